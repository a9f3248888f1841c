#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two mounts of one file system, as of two hosts, with each combination of caches. A process that
# gets a lock sees all earlier changes that others made under it, through whichever mount: data,
# sizes, attributes and names. Locks of an open file end with its last descriptor, and locks of a
# process with any of its descriptors.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
export TMP_LOCAL=$tmp
locks=$e2e/mount_locks.py
cases='counter end rows'
if maps_shared; then
	export MAPS_SHARED=1
	cases+=' mapped'
fi
kinds=(posix ofd flock)
turn=0

# Each case runs in a folder of its own, which no mount has cached under another name.
run() { # CASE KIND
	local dir=dir$((turn++))

	mkdir "$tmp/a/$dir"
	must timeout 120 python3 "$locks" "$1" "$2" "$tmp"/{a,b}/$dir
}

for caches in open:open open:none none:open none:none; do
	mount_at "$tmp/a" -o cache=${caches%:*}
	first=$daemon
	mount_at "$tmp/b" -o cache=${caches#*:}
	for kind in "${kinds[@]}"; do
		run seen $kind
	done
	run sqlite posix
	[ $caches = open:open ] && for case in $cases; do
		run $case ${kinds[turn % 3]}
	done
	unmount "$tmp/a" $first
	unmount "$tmp/b" $daemon
done

for cache in none open; do
	mount_at "$tmp/a" -o cache=$cache
	must timeout 120 python3 "$e2e/mount_ofd.py" "$tmp/a/ofd"
	unmount "$tmp/a" $daemon
done

# If the kernel does not show what a process waits for, wchan is 0 for sleeping ones, too.
sleep 600 &
helpers+=($!)
until_true 20 grep -q '^State:.S' /proc/$!/status
[ "$(cat /proc/$!/wchan)" != 0 ] || {
	say "wchan is not usable here: no daemon is killed while it waits for a page"
	exit 0
}

# A daemon is killed while it waits in the kernel for a page that no process will provide. It still
# ends, and so does the program that waits for the lock.
mount_at "$tmp/a" -o cache=open
head -c 100000 /dev/zero >"$tmp/a/page"
unmount "$tmp/a" $daemon
mount_at "$tmp/a" -o cache=open
exec 7<>"$tmp/a/page" 8<"$tmp/a/page"
server=$(pgrep -P $daemon)
iods="$(cluster pid iod0) $(cluster pid iod1)"
stand_still $iods
cat <&8 >"$tmp/read" 2>&1 &
reader=$!
waits_for_page() { grep -qE 'folio|page_bit' "/proc/$1/task/"*/wchan 2>/dev/null; }
until_true 20 waits_for_page $reader
flock -x 7 2>"$tmp/flock" &
waiter=$!
until_true 20 waits_for_page "$server"
kill -KILL "$server"
wait $daemon $reader $waiter
must kill -CONT $iods
exec 7>&- 8>&-
must umount "$tmp/a"
