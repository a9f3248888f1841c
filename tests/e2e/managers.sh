#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# While programs use three managers, the leader is killed, stopped and continued, and shut down. No
# call fails, acknowledged changes are there, and the iods obey the new leader.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 2 --managers 3

# ---- the load: programs that check each result and all that was acknowledged ----

load=()
begin() {
	pvrolling "/pvfs/$1" "$tmp/$1" /pvfs/counter >"$tmp/$1.out" 2>&1 &
	load+=("$!")
	helpers+=("$!")
}
lines() { wc -l <"$tmp/$1.out"; }
goes_on() {
	[ "$(lines "$1")" -ge "$2" ] && return
	jobs -r -p >"$tmp/jobs"
	[ "$(grep -cxF "$(printf '%s\n' "${load[@]}")" "$tmp/jobs")" = ${#load[@]} ] ||
		fail "a program has ended: $(tail -n 3 "$tmp"/load*.out)"
	return 1
}
all_go_on() {
	local name at
	declare -A from=()

	for name in load1 load2; do from[$name]=$(($(lines $name) + 3)); done
	for name in load1 load2; do until_true 120 goes_on $name "${from[$name]}"; done
}

begin load1
begin load2
all_go_on

for round in 1 2; do
	say "kill -9"
	was=$(leader)
	must cluster kill-mgr "$was"
	all_go_on
	[ "$(leader)" != "$was" ] || fail "the killed manager leads"
	must cluster start-mgr "$was"
	all_go_on

	say "stopped and continued"
	was=$(leader)
	stand_still "$(cluster pid "mgr.$was")"
	all_go_on
	kill -CONT "$(cluster pid "mgr.$was")"
	until_true 60 follows "$was"
	all_go_on

	say "handed over"
	was=$(leader)
	must cluster stop-mgr "$was"
	all_go_on
	must cluster start-mgr "$was"
	all_go_on
done

touch "$tmp/load1.end" "$tmp/load2.end"
for pid in "${load[@]}"; do
	wait "$pid" || fail "a program failed: $(tail -n 3 "$tmp"/load*.out)"
done
helpers=()

# managers ask each other for a sign of life, for example when one is stopped
grep 'protocol error' "$state"/log/mgr*.log && fail "managers refuse each other's replies"

# no client holds a file, so removed files leave nothing
clean() { "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf" >"$tmp/fsck" 2>&1; }
until_true 60 clean
