#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two mounts of one file system, as of two hosts, cache names. A process that gets a lock finds the
# current file of each name in the folder of the locked file. So lock files that are created, locked
# and removed in turn never have two owners.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
names=$e2e/mount_lock_names.py
turn=0

for caches in open:open open:none; do
	mount_at "$tmp/a" -o cache=${caches%:*}
	first=$daemon
	mount_at "$tmp/b" -o cache=${caches#*:}
	for kind in posix ofd flock; do
		for what in names owners; do
			dir=dir$((turn++))
			mkdir "$tmp/a/$dir" "$tmp/$dir"
			must timeout 300 python3 "$names" $what $kind "$tmp"/{a,b}/$dir \
				$([ $what = owners ] && echo "$tmp/$dir")
		done
	done
	unmount "$tmp/a" $first
	unmount "$tmp/b" $daemon
done
