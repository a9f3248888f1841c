#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Waits for locks through a mount behave as on a local file system. A waiting call uses no thread of
# the daemon and no slot of the session.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
mkdir "$tmp/local"
must python3 "$e2e/mount_waits.py" "$tmp/local"
mount_at "$tmp/a" -o max_threads=8
first=$daemon
mount_at "$tmp/b"
# $first is the guard of the serving process
must python3 "$e2e/mount_waits.py" "$tmp/a" "$(pgrep -P $first)"

# A process on one mount waits for a lock, and a process on the other mount releases it. A killed
# process never gets the lock that it waited for.
for way in "a b" "b a"; do
	set -- $way
	exec 8>>"$tmp/$1/o"
	must flock -x 8
	flock "$tmp/$2/o" true &
	waiter=$!
	flock "$tmp/$2/o" sleep 1000 &
	killed=$!
	sleep 0.3
	kill -9 $killed
	wait $killed
	must flock -u 8
	must wait $waiter
	must flock -n "$tmp/$1/o" true
	exec 8>&-
done

# The same over a restart of the manager.
exec 8>>"$tmp/a/o"
must flock -x 8
flock "$tmp/b/o" true &
waiter=$!
sleep 0.3
restart_pvfs >/dev/null 8>&- # they would keep it
must_fail flock -n "$tmp/b/o" true
must flock -u 8
must wait $waiter
exec 8>&-
unmount "$tmp/a" $first
unmount "$tmp/b" $daemon
