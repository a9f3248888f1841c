#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A client is stopped while it holds a lock, and its session ends.  It writes nothing over the next
# holder's data, though the disk of the iod was full at the fence, and also over a restart of the
# iod.
. "$(dirname "$0")/functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

small_disk "$state/iod0" 8
start_pvfs -n 1 --set mgr.session_timeout=2
expect ok pvio write /pvfs/f 0 4096 1

mkfifo in
round() {
	rm -f out
	lib_locks late /pvfs/f <in >out 2>err &
	holder=$!
	helpers+=($holder)
	exec 9>in
	until_true 30 grep -q held out
	stand_still $holder
	cat /dev/zero >"$state/iod0/filler" 2>/dev/null
	must cluster kill-mgr
	must cluster start-mgr
	expect taken lib_locks wait /pvfs/f
	expect ok pvio write /pvfs/f 0 4096 2
	[ "$1" != restart ] || { must cluster kill-iod 0 && must cluster start-iod 0; }
	must kill -CONT $holder
	exec 9>&-
	wait $holder
	grep -q refused out || fail "not refused: $(cat out err)"
	expect ok pvio check /pvfs/f 0 4096 2
	rm "$state/iod0/filler"
}
round once
round restart
