#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A handle of name_to_handle_at(2) opens any object after the kernel has dropped it, and through
# another mount.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
for cache in none open; do
	mount_at "$tmp/a" -o cache=$cache
	first=$daemon
	mount_at "$tmp/b" -o cache=$cache
	mkdir "$tmp/a/$cache"
	expect "d True d/f True p True l True data Stale file handle" \
		echo $(python3 "$e2e/mount_handles.py" "$tmp/a/$cache" "$tmp/b/$cache" 2>&1)
	unmount "$tmp/a" $first
	unmount "$tmp/b" $daemon
done
