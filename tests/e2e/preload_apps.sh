#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The programs of mount_apps say the same when they move their data past the mount.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
for tool in git rsync sqlite3 python3 perl zip unzip ssh-keygen vim less gcc gdb; do
	requires tool $tool
done
. "$e2e/apps.sh"

names='git rsync sqlite python perl archives keys editor compiler'
if maps_shared; then names+=' sqlite_wal'; fi
start_pvfs -n 3
apps "$tmp/local" $names >"$tmp/want"
mount_at "$tmp/m" -o cache=none
past_all
apps "$tmp/m/past" $names >"$tmp/have"
past_none
diff "$tmp/want" "$tmp/have" || fail "not as elsewhere"
for program in git rsync sqlite3; do
	grep -q ":$program): opens session" "$(log_of mgr)" ||
		fail "$program did not go past the mount"
done
unmount "$tmp/m" $daemon
