#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One manager becomes three. By mistake, [mgr.0] is the manager with the empty storage, while no iod
# runs. The database is neither replaced nor deleted, and serves after the mistake is corrected.
. "$(dirname "$0")/functions.sh"

unset PVFS_TEST_MANAGERS
start_pvfs -n 1
echo precious >"$tmp/data"
must pvfs-cp -q "$tmp/data" /pvfs/data
must cluster stop

uri=$(conf_value mgr address)
base=${uri%:*}
second=$base:$(free_port) third=$base:$(free_port)
rest=$(awk '/^\[/ { on = ($0 ~ /^\[mgr/) } !on' "$state/pvfs.conf")
# managers_are STORAGE STORAGE: those of [mgr.0], which has the address of the old one, and of
# [mgr.1]
managers_are() {
	printf '%s\n[mgr]\n' "$rest"
	printf '[mgr.%s]\naddress = %s\nstorage = %s\n' 0 "$uri" "$1" 1 "$second" "$2" \
		2 "$third" "$state/mgr2"
}
# begin N: starts the manager without waiting for it
begin() {
	"$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" --index "$1" >"$tmp/mgr$1.log" 2>&1 &
	pid[$1]=$!
	helpers+=("$!")
}
said() { grep -q "$2" "$tmp/mgr$1.log"; }
pid=()
mkdir "$state/new" "$state/mgr2"

say "the empty storage founds a group"
managers_are "$state/new" "$state/mgr" >"$state/pvfs.conf"
begin 0
until_true 60 said 0 'a new file system: waits until all'
begin 1
wait "${pid[1]}" && fail "manager 1 ends without an error"
said 1 'has a database that is in no group' || fail "manager 1: $(cat "$tmp/mgr1.log")"

say "an empty storage has to wait"
begin 2
asked() { [ "$(grep -c 'pvfs-mgr): opens session' "$tmp/mgr0.log")" -ge 5 ]; }
until_true 60 asked
said 0 'joins the group' && fail "it was added: $(cat "$tmp/mgr0.log")"
kill "${pid[0]}"
wait "${pid[0]}"

say "one manager again, whose database was opened as that of one of several"
printf '%s\n[mgr]\naddress = %s\nstorage = %s\n' "$rest" "$uri" "$state/mgr" >"$state/pvfs.conf"
must cluster start-mgr
must cluster stop-mgr

say "the mistake is corrected"
rm -r "$state/new"
mkdir "$state/new"
managers_are "$state/mgr" "$state/new" >"$state/pvfs.conf"
# manager 2 still waits for a group
must cluster start-mgr 0
must cluster start-iod 0
must cluster start-mgr 1
kill "${pid[2]}"
wait "${pid[2]}"
helpers=()
rm -r "$state/mgr2"
must cluster start
voters() { [ "$(group_votes)" = 3 ]; }
until_true 120 voters
must pvfs-cp -q /pvfs/data "$tmp/back"
cmp "$tmp/data" "$tmp/back" || fail "other data"
