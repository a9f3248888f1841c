#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The programs of mount_apps print the same results when they bypass the mount, and with cache=open,
# where the library leaves all calls to the kernel.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
. "$e2e/apps.sh"

start_pvfs -n 3
elsewhere $all_apps sqlite_wal
for cache in none open; do
	names=$all_apps
	if [ $cache = open ] || maps_shared; then names+=' sqlite_wal'; fi
	mount_at "$tmp/m" -o cache=$cache
	past_all
	as_elsewhere "$tmp/m/$cache" $names
	past_none
	unmount "$tmp/m" $daemon
	[ $cache = none ] || continue
	for program in git rsync sqlite3 tar; do
		grep -q ":$program): opens session" "$(log_of mgr)" ||
			fail "$program did not go past the mount"
	done
done
