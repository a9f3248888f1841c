#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The programs of mount_apps say the same when they move their data past the mount.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
. "$e2e/apps.sh"

names=$all_apps
if maps_shared; then names+=' sqlite_wal'; fi
start_pvfs -n 3
elsewhere $names
mount_at "$tmp/m" -o cache=none
past_all
as_elsewhere "$tmp/m/past" $names
past_none
for program in git rsync sqlite3; do
	grep -q ":$program): opens session" "$(log_of mgr)" ||
		fail "$program did not go past the mount"
done
unmount "$tmp/m" $daemon
