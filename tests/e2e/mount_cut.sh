#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# When a direct write fails, data of others is not truncated. This holds for asynchronous writes of
# the kernel (io_submit), for ordinary ones with cache=open, and for programs that bypass the mount.
# The data of the failed write itself is truncated.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
requires python3

small_disk "$state/iod1" 16
start_pvfs -n 2

# run COMMAND...: runs mount_cut.py, and carries out each word that it prints (fill, empty, stop, go
# on).  The last word must be "ok".
run() {
	local word ok=

	coproc "$@" 2>"$tmp/err"
	program=$COPROC_PID
	helpers+=($program)
	exec 6<&"${COPROC[0]}" 7>&"${COPROC[1]}"
	while read -r -t 300 word <&6; do
		case $word in
		fill)	must_fail pvio write /pvfs/fill 0 100000000 1 ;;
		empty)	expect ok pvio unlink /pvfs/fill
			until_true 30 has_room ;;
		stop)	stand_still "$(cluster pid 1)" ;;
		go\ on)	must kill -CONT "$(cluster pid 1)" ;;
		skip*)	say "$word" ;;
		ok)	ok=1 ;;
		esac
		echo >&7
	done
	exec 6<&- 7>&-
	wait $program
	[ "$ok" ] || fail "$*: $(cat "$tmp/err")"
}
has_room() { [ "$(pvio write /pvfs/room 0 4000000 1)" = ok ]; }

for cache in none open; do
	PVFS_TIMEOUT=2 mount_at "$tmp/m" -o cache=$cache
	run python3 "$e2e/mount_cut.py" "$tmp/m" full
	rm -r "${tmp:?}/m/"*
	run python3 "$e2e/mount_cut.py" "$tmp/m" still
	rm -r "${tmp:?}/m/"*
	until_true 30 has_room
	run past python3 "$e2e/mount_cut.py" "$tmp/m" past
	expect ok pvio unlink /pvfs/fill
	rm -r "${tmp:?}/m/"*
	unmount "$tmp/m" $daemon
	until_true 30 has_room
done

# another append between the failure and the truncation
state=$tmp/second
start_pvfs -n 1
mount_at "$tmp/m" -o cache=none
run python3 "$e2e/mount_cut.py" "$tmp/m" beside
unmount "$tmp/m" $daemon
