#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Many processes work on one directory and one file.  The result of each change is there, and if all
# try the same exclusive change, exactly one succeeds.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 4
clients=8
one() {
	local c=$1 d=/pvfs/work i

	for i in 0 1 2 3; do
		# disjoint pieces of one file, not on stripe boundaries
		expect ok pvio write /pvfs/shared \
			$(((i * clients + c) * 333333)) 333333 9
		pvio creat /pvfs/only$i >"$tmp/only$i.$c" || :
		expect ok pvio write $d/own$c 0 $((c * 10000 + i)) $c
		expect ok pvio rename $d/own$c $d/mine$c.$i
		expect ok pvio check $d/mine$c.$i 0 $((c * 10000 + i)) $c
	done
}
expect ok pvio mkdir /pvfs/work
pids=()
for c in $(seq 0 $((clients - 1))); do
	(trap - EXIT; tmp=$tmp/c$c; mkdir "$tmp"; one "$c") \
		>"$tmp/client$c" 2>&1 &
	pids+=($!)
done
for c in "${!pids[@]}"; do
	wait "${pids[c]}" || fail "client $c: $(cat "$tmp/client$c")"
done
expect ok pvio check /pvfs/shared 0 $((4 * clients * 333333)) 9
expect $((4 * clients * 333333)) \
	bash -c "pvio stat /pvfs/shared | awk 'NR == 1 { print \$5 }'"
expect $((4 * clients)) bash -c 'pvio names /pvfs/work | grep -c "^mine"'
for i in 0 1 2 3; do
	[ "$(cat "$tmp"/c*/only"$i".* | grep -c '^ok$')" = 1 ] ||
		fail "O_EXCL: not exactly one of them made only$i"
	[ "$(cat "$tmp"/c*/only"$i".* | grep -c '^EEXIST$')" = \
		$((clients - 1)) ] || fail "O_EXCL: others than EEXIST"
done
