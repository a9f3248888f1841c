#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A write-back error of a disk is reported once to each file that was open then through a mount, not
# only to the first one that asks. It is also reported to a program that wrote in bypass of the
# mount, by any descriptor.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

shim=$PVFS_BUILD/tests/history/history-shim.so
[ -e "$shim" ] || skip "needs the shim of the history test"
[ "$(stat -f -c %T "$tmp")" != tmpfs ] || skip "needs a folder on a disk"
start_pvfs -n 1
must cluster stop-iod 0
head -c 4096 /dev/zero >"$tmp/shim"
flushes() { printf '%-20s %-20s %-20s ' 0 "$1" 0 1<>"$tmp/shim"; } # 1: fail
flushes 0
HISTORY_SHIM=$tmp/shim LD_PRELOAD=$shim ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
	cluster start-iod 0 >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"

for cache in none open; do
	mount_at "$tmp/m$cache" -o cache=$cache
	expect ok python3 "$e2e/mount_errors.py" "$tmp/m$cache/f" "$tmp/shim"
	[ $cache = open ] || expect ok past python3 "$e2e/mount_errors.py" \
		"$tmp/m$cache/g" "$tmp/shim" /pvfs/g
	unmount "$tmp/m$cache" $daemon
done
