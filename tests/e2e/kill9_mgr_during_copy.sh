#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The manager is killed with SIGKILL several times during a copy: the copy waits, continues, and
# ends with the correct data; the database recovers.
. "$(dirname "$0")/functions.sh"

mkdir "$tmp/tree"
for i in $(seq 40); do
	mkdir "$tmp/tree/d$i"
	for j in $(seq 25); do
		head -c $((i * j * 13)) /dev/urandom >"$tmp/tree/d$i/f$j"
	done
done
start_pvfs -n 2 --sync on

pvfs-cp -a "$tmp/tree" /pvfs/tree >"$tmp/cp" 2>&1 &
copy=$!
helpers+=("$copy")
kills=0
# each kill only after the copy made progress since the last one
while kill -0 $copy 2>/dev/null && [ $kills -lt 4 ]; do
	before=$(objects)
	moved() { [ "$(objects)" -gt $((before + 50)) ] ||
		! kill -0 $copy 2>/dev/null; }
	until_true 120 moved
	must cluster kill-mgr
	must cluster start-mgr
	kills=$((kills + 1))
done
wait $copy || { cat "$tmp/cp"; fail "the copy failed"; }
helpers=()
[ $kills -ge 2 ] || fail "the copy was over after $kills kills"
say "$kills kills"
must pvfs-cp -a /pvfs/tree "$tmp/back"
same_tree "$tmp/tree" "$tmp/back"

# acknowledged creations are there after a kill
pvio create /pvfs one. 200 4 >"$tmp/made"
must cluster kill-mgr
must cluster start-mgr
expect ok tail -n 1 "$tmp/made"
[ "$(pvio names /pvfs | grep -c '^one\.')" = 200 ] ||
	fail "answered creations were lost"
