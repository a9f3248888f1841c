#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The host of an iod is restarted. fsync of data that was written through a mount and not flushed
# reports the loss once to each file that was open then. If none was open, it reports to the next
# open. This also holds for a program that wrote in bypass of the mount.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
. "$e2e/new_host.sh"

# writes NAME [COMMAND...]: a program writes the file, and continues to run
writes() {
	mkfifo "$tmp/$1.in"
	"${@:2}" python3 "$e2e/mount_lost_memory.py" "$tmp/m" "$1" <"$tmp/$1.in" \
		>"$tmp/$1.out" 2>&1 &
	exec {in[$1]}>"$tmp/$1.in"
	until_true 60 grep -q written "$tmp/$1.out"
}
# says NAME WANTED: checks the output of that program
says() {
	local n
	n=$(wc -l <"$tmp/$1.out")
	echo >&"${in[$1]}"
	more() { [ "$(wc -l <"$tmp/$1.out")" -gt "$n" ]; }
	until_true 60 more "$1"
	expect "$2" tail -n 1 "$tmp/$1.out"
}

declare -A in
end_writers() {
	for who in "${!in[@]}"; do echo end >&"${in[$who]}"; done
	in=()
}
at_end end_writers # before what they have open is unmounted

start_pvfs -n 2
for cache in none open; do
	mount_at "$tmp/m" -o cache=$cache
	writes through.$cache
	[ $cache = open ] || writes past.$cache past # with cache=open nothing goes past
	head -c 100000 /dev/zero >"$tmp/m/closed"
	head -c 100000 /dev/zero >"$tmp/m/flushed"
	must sync "$tmp/m/flushed"
	new_host 0
	says through.$cache "EIO ok EIO ok"
	[ $cache = open ] || says past.$cache "EIO ok EIO ok"
	must_fail sync "$tmp/m/closed"
	must sync "$tmp/m/closed" "$tmp/m/flushed"
	says through.$cache "ok ok ok ok"
	end_writers
	until_true 60 umount "$tmp/m" 2>"$tmp/err"
	wait $daemon || fail "pvfs-fuse ended with $?"
done
