#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# While a program works, one manager becomes three, and three become one. No call fails, and the
# iods obey only higher terms.
. "$(dirname "$0")/functions.sh"

unset PVFS_TEST_MANAGERS
start_pvfs -n 1

. "$e2e/rolling_load.sh"

# voters N: the group has N members, and all are voters
voters() {
	group_members >"$tmp/members" && [ "$(grep -c . "$tmp/members")" = "$1" ] &&
		[ "$(grep -c ' voter$' "$tmp/members")" = "$1" ]
}

# managers_are SECTION ADDRESS STORAGE...: writes these managers to pvfs.conf
managers_are() {
	local rest

	rest=$(awk '/^\[/ { on = ($0 ~ /^\[mgr/) } !on' "$state/pvfs.conf")
	{
		echo "$rest"
		[ "$1" = mgr ] || echo "[mgr]"
		while [ $# -ge 3 ]; do
			printf '[%s]\naddress = %s\nstorage = %s\n' "$1" "$2" "$3"
			shift 3
		done
	} >"$tmp/conf"
	cp "$tmp/conf" "$state/pvfs.conf"
}

uri=$(conf_value mgr address)
base=${uri%:*}
load_goes_on

say "1 -> 3"
second=$(free_port) third=$(free_port)
must cluster stop-mgr
mkdir "$state/mgr1" "$state/mgr2"
managers_are mgr.0 "$uri" "$state/mgr" mgr.1 "$base:$second" "$state/mgr1" \
	mgr.2 "$base:$third" "$state/mgr2"
must cluster start-mgr 0
load_goes_on
must cluster start-mgr 1
must cluster start-mgr 2
until_true 120 voters 3
load_goes_on

say "the other one is refused while it is one of three"
must cluster stop-mgr 1
managers_are mgr "$base:$second" "$state/mgr1"
"$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" >"$tmp/refused" 2>&1 && fail "it started"
grep -q 'is that of one of 3 managers' "$tmp/refused" || fail "refused: $(cat "$tmp/refused")"
managers_are mgr.0 "$uri" "$state/mgr" mgr.1 "$base:$second" "$state/mgr1" \
	mgr.2 "$base:$third" "$state/mgr2"
must cluster start-mgr 1
load_goes_on

say "3 -> 1"
for n in 2 1; do
	until_true 60 voters $((n + 1))
	removed() {
		pvfs-managers -c "$state/pvfs.conf" remove "$n" /pvfs >"$tmp/removed" 2>&1
		voters "$n"
	}
	until_true 60 removed
	cluster stop-mgr "$n"
	load_goes_on
done
must cluster stop-mgr 0
managers_are mgr "$uri" "$state/mgr"
must cluster start-mgr
load_goes_on
[ ! -e "$state/mgr/raft" ] && [ ! -e "$state/mgr/raft.left" ] || fail "the folder raft is still there"

end_load
