#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls of one user wait for an iod that is stopped, or for a disk that does not flush.  Those
# of other users of the same mount, and of the same user for other things, do not.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
shim=$PVFS_BUILD/tests/history/history-shim.so
[ -f "$shim" ] || skip "needs history-shim.so"
requires tool python3

start_pvfs -n 2
must cluster stop-iod 0
head -c 4096 /dev/zero >"$tmp/shim"
HISTORY_SHIM=$tmp/shim LD_PRELOAD=$shim \
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
	cluster start-iod 0 >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"

PVFS_TIMEOUT=60 mount_at "$tmp/m"
chmod 1777 "$tmp/m"
for what in ${WAITING:-truncate trunc_open append fallocate stat fsync write}; do
	mkdir -m 1777 "$tmp/m/$what"
	must python3 "$e2e/waiting.py" "$tmp/m/$what" $what \
		"$(cluster pid 0)" "$tmp/shim"
done
unmount "$tmp/m" $daemon
