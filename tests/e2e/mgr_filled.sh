#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Other programs fill the manager's disk to the last byte, and repeatedly take space that becomes
# free. The manager continues, rejects changes that need room, logs this in a few lines, and starts
# on the full disk. Acknowledged changes are there.
. "$(dirname "$0")/functions.sh"

small_disk "$state/mgr" 110
start_pvfs -n 2
pid=$(cluster pid mgr)
fsck() { "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf"; }
alive() {
	[ "$(cluster pid mgr)" = "$pid" ] && kill -0 "$pid" 2>/dev/null ||
		fail "the manager did not survive"
}
# Takes all free space, and all space that becomes free.
greedy() {
	trap 'exit 0' TERM
	while :; do
		dd if=/dev/zero of="$state/mgr/theirs" bs=64k oflag=append \
			conv=notrunc 2>/dev/null
		sleep 0.01
	done
}
fill() { greedy & filler=$!; helpers+=($filler); }
free() { kill "$filler"; wait "$filler" 2>/dev/null; rm "$state/mgr/theirs"; }
nothing_left() { [ "$(df -k --output=avail "$state/mgr" | tail -n 1)" -lt 256 ]; }
works() { pvio chmod 750 /pvfs/d >"$tmp/output"; }
ready() { grep -c ' ready: ' "$(log_of mgr)"; }

expect ok pvio mkdir /pvfs/d
expect ok pvio create /pvfs/d old. 2000 2
mkfifo "$tmp/go"
ledgers=()
for k in 1 2 3; do
	pvledger /pvfs/l$k $k <"$tmp/go" >"$tmp/ledger$k" 2>&1 &
	ledgers+=($!)
	helpers+=($!)
done
exec 5>"$tmp/go"

for round in 1 2 3 4 5 6; do
	sleep 0.$((RANDOM % 10))
	fill
	until_true 30 nothing_left
	sleep $((RANDOM % 4)).$((RANDOM % 10))
	must pvfs-ls /pvfs >"$tmp/output"
	alive
	free
	[ $((round % 2)) = 0 ] || until_true 30 works
done

# the manager is killed when no space is free
for round in 1 2 3; do
	fill
	until_true 30 nothing_left
	sleep 1.$((RANDOM % 10))
	alive
	before=$(ready)
	must cluster kill-mgr
	# Berkeley DB leaks some 300 bytes if there is no room for a recovery.
	if leak_check=detect_leaks=0 \
		cluster start-mgr 5>&- >"$tmp/start" 2>&1; then
		must pvfs-ls /pvfs >"$tmp/output"
		free
	else
		grep -q 'too full to recover it: free .* MiB' "$(log_of mgr)" ||
			fail "it does not say what to do"
		free
		must cluster start-mgr 5>&-
	fi
	[ "$(ready)" -gt "$before" ] || fail "not ready again"
	pid=$(cluster pid mgr)
	until_true 30 works
done
alive
exec 5>&-
for k in 0 1 2; do
	wait "${ledgers[$k]}" || fail "$(cat "$tmp/ledger$((k + 1))")"
done
helpers=()
say "$(cat "$tmp"/ledger?)"
grep -q ' [1-9][0-9]* refused' "$tmp"/ledger? || fail "nothing was refused"
clean() { fsck >"$tmp/fsck" 2>&1; }
until_true 60 clean
! grep -qi 'restore' "$(log_of mgr)" || fail "bad advice"
[ "$(grep -c ' error: ' "$(log_of mgr)")" -lt 100 ] || fail "many lines"
