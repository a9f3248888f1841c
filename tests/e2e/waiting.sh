#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls of one user wait for an iod that is stopped, or for a disk that does not flush. Calls of
# other users of the same mount, and of the same user for other things, do not wait.
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
none=$daemon
PVFS_TIMEOUT=60 mount_at "$tmp/open" -o cache=open
open=$daemon
mount_at "$tmp/other"
chmod 1777 "$tmp/m"

# wait_in MOUNT WHAT...
wait_in() {
	local m=$1 what dir
	shift

	for what; do
		dir=$(basename "$m")-$what
		mkdir -m 1777 "$m/$dir"
		must python3 "$e2e/waiting.py" "$m/$dir" $what \
			"$(cluster pid 0)" "$tmp/shim" "$tmp/other/$dir"
	done
}
wait_in "$tmp/m" ${WAITING:-truncate trunc_open append fallocate stat fsync write msync}
wait_in "$tmp/open" ${WAITING:-read msync}
unmount "$tmp/other" $daemon
unmount "$tmp/open" $open
unmount "$tmp/m" $none
