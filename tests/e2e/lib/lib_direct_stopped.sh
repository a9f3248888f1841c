#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A client that stands still in the middle of a write to what it borrowed, while its
# session ends: who has its lock then is not written over, whatever happens to it.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 1 --set mgr.session_timeout=2

stands() { [ "$(cut -d' ' -f3 <"/proc/$holder/stat")" = T ]; }
# A client, $holder, that stands still in the middle of a write under a lock.
hold() {
	STOP_IN_WRITE=$tmp/stop \
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
		LD_PRELOAD=$PVFS_BUILD/tests/e2e/lib/libstop_in_write.so \
		lib_direct /pvfs hold "$tmp/stop" >"$tmp/said" 2>&1 &
	holder=$!
	until_true 60 stands
}
was_killed() {
	wait $holder
	[ $? = 137 ] || fail "who stood still was not ended: $(cat "$tmp/said")"
}

hold
timeout 100 lib_direct /pvfs take >"$tmp/took" 2>&1 &
taker=$!
# it does not come back to a manager that was started anew: its session ends
cluster kill-mgr && cluster start-mgr || fail "no manager"
wait $taker || fail "the lock was not given: $(cat "$tmp/took")"
kill -CONT $holder 2>/dev/null
was_killed
expect B lib_direct /pvfs look
must grep -q 'stands still in the middle of a write' "$(log_of iod0)"

# so it is over the end of the iod
hold
cluster kill-iod 0 && cluster start-iod 0 || fail "no iod"
was_killed
must grep -q 'that the iod before lent it' "$(log_of iod0)"
