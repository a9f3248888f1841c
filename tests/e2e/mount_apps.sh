#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Unmodified programs of Debian print the same results on a mount, with each kind of cache, as
# elsewhere: git, rsync, SQLite, python, perl, archives, keys, an editor, a compiler and a debugger.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/apps.sh"

start_pvfs -n 3
elsewhere $all_apps sqlite_wal
for cache in none open; do
	mount_at "$tmp/m" -o cache=$cache
	as_elsewhere "$tmp/m/$cache" $all_apps
	# with cache=none, the shared memory of WAL mode needs Linux 6.6
	if [ $cache = open ] || maps_shared; then
		as_elsewhere "$tmp/m/$cache" sqlite_wal
	fi
	unmount "$tmp/m" $daemon
done
