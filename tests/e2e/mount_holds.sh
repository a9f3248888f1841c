#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A file that is open through a mount stays when its last name is removed, also while a restarted
# manager does not know yet which files are open. It is removed at the last close.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
m=$tmp/m
mount_at "$m" -o cache=none
serves=$(pgrep -P $daemon)
head -c 200000 /dev/urandom >"$tmp/f"

no_objects() { [ "$(objects)" = 0 ]; }
crash() {
	must cluster kill-mgr
	must cluster start-mgr
}

# Only this process has the file open: another one would wake the mount when it ends.
reader() {
	exec 7<"$m/f"
	echo >"$tmp/go" # it is
	read -r <"$tmp/go"
	cmp "$tmp/f" - <&7
}
mkfifo "$tmp/go"

for when in before meanwhile behind; do
	must cp "$tmp/f" "$m/f"
	must cat "$m/f" >"$tmp/seen"
	reader &
	read -r <"$tmp/go"
	[ $when = before ] && must pvfs-rm /pvfs/f
	stand_still $serves
	crash
	[ $when = meanwhile ] && must pvfs-rm /pvfs/f
	kill -CONT $serves
	until_true 30 ls "$m" >"$tmp/output"
	[ $when = behind ] && must pvfs-rm /pvfs/f
	expect '' ls "$m"
	echo >"$tmp/go"
	wait $! || fail "removed $when: what was open is not there"
	until_true 30 no_objects
done
unmount "$m" $daemon
