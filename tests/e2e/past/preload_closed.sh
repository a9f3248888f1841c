#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program closes descriptors that it did not open, by system calls and not by libc. It only loses
# the bypass of the mount: its next calls go through the kernel, and do not wait for their deadline,
# which is long here. A file that it opens under one of these numbers gets no wake-up byte of the
# library.
. "$(dirname "$0")/../functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
requires python3

start_pvfs -n 3
PVFS_TIMEOUT=300 mount_at "$tmp/m" -o cache=none
for how in range each others reused; do
	PVFS_LOG=info past timeout 120 python3 \
		"$e2e/past/preload_closed.py" "$tmp/m/$how" "$tmp/other" $how \
		>"$tmp/said" 2>"$tmp/log" || fail "$how: exit $?: $(cat "$tmp/log")"
	grep -q '^ok$' "$tmp/said" || fail "$how: $(cat "$tmp/log")"
	[ $how = reused ] ||
		grep -q 'closed descriptors that are not its own' "$tmp/log" ||
		fail "$how: no word of it: $(cat "$tmp/log")"
done
[ ! -s "$tmp/other" ] || fail "written to a file of the program: $(od -c "$tmp/other")"
grep -q 'opens session' "$(log_of mgr)" || fail "it did not go past the mount"
unmount "$tmp/m" $daemon
