#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# SQLite's databases are intact and have every row whose commit returned, in each journal mode. The
# writing processes are killed, and pvfs-fuse is killed and mounted again. The test runs with each
# kind of cache, and with programs that bypass the mount (with cache=open their data still goes
# through it).
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
python3 -c 'import sqlite3' 2>"$tmp/err" || skip "needs sqlite3 of python3"

start_pvfs -n 3
database=$e2e/mount_sqlite.py
as_is() { "$@"; }
# of_all COMMAND...: runs the command for each database
of_all() {
	local mode

	for mode in $modes; do
		must "$@" "$dir" $mode
	done
}

# write HOW: starts two processes for each database; returns when each has committed a row
writers=()
write() {
	local mode who

	cd "$tmp/ledgers" || exit 1
	rm -f ./*
	for mode in $modes; do
		for who in 1 2; do
			("$1" exec python3 "$database" write "$dir" $mode $who \
				2>>"$tmp/writers") &
			writers+=($!)
		done
	done
	for mode in $modes; do
		until_true 60 test -s $mode.1
		until_true 60 test -s $mode.2
	done
}
# Hides the shell's messages about killed processes.
killed() {
	kill -KILL "${writers[@]}"
	wait "${writers[@]}"
	writers=()
} 2>/dev/null

mkdir "$tmp/ledgers"
modes='delete truncate persist'
for cache in none open; do
	[ $cache = none ] && ! maps_shared || modes='delete truncate persist wal'
	for how in as_is past; do
		dir=$tmp/m/$cache-$how
		mount_at "$tmp/m" -o cache=$cache
		mkdir "$dir"
		of_all $how python3 "$database" make
		write $how
		killed
		of_all $how python3 "$database" check
		write $how
		kill -KILL "$(pgrep -P $daemon)"
		wait $daemon
		killed
		must umount "$tmp/m"
		mount_at "$tmp/m" -o cache=$cache
		of_all $how python3 "$database" check
		unmount "$tmp/m" $daemon
	done
done
