#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Locks through a mount end with what they are of: an open file's with the last of its
# descriptors, a process' with any of them.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
for cache in none open; do
	mount_at "$tmp/a" -o cache=$cache
	must timeout 120 python3 "$e2e/mount_ofd.py" "$tmp/a/ofd"
	unmount "$tmp/a" $daemon
done
