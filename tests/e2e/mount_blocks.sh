#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# st_blocks of closed files with holes is the same as on a local file system. For files without
# holes, no iod is asked.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
mkdir "$tmp/local"
must python3 "$e2e/mount_blocks.py" "$tmp/local" >"$tmp/want"
for cache in none open; do
	mount_at "$tmp/a" -o cache=$cache,attr_timeout=0
	must python3 "$e2e/mount_blocks.py" "$tmp/a" >"$tmp/have"
	if ! diff "$tmp/want" "$tmp/have"; then
		fail "cache=$cache: see above"
	fi
	rm "$tmp/a/f" "$tmp/a/g"
	must past python3 "$e2e/mount_blocks.py" "$tmp/a" >"$tmp/have"
	if ! diff "$tmp/want" "$tmp/have"; then
		fail "cache=$cache, pvfs-preload: see above"
	fi
	rm "$tmp/a/f" "$tmp/a/g"
	unmount "$tmp/a" $daemon
done

# prints the number of requests that all iods have served
iods() { pvfs-ping | awk '$1 == "iod" && $4 == "up" { n += $9 } END { print n }'; }
mount_at "$tmp/a"
head -c 1000000 /dev/zero >"$tmp/a/full"
until_true 30 sh -c "[ \$(stat -c %b '$tmp/a/full') = 1954 ]"
before=$(iods)
asked=$(($(iods) - before)) # by a ping itself
before=$(iods)
for k in 1 2 3 4 5 6 7 8 9 10; do expect 1954 stat -c %b "$tmp/a/full"; done
took=$(($(iods) - before))
[ $took = $asked ] || fail "$took requests, $asked of them by pvfs-ping"
must fallocate -p -o 0 -l 1000000 "$tmp/a/full"
is_hole() { [ "$(stat -c %b "$tmp/a/full")" -lt 500 ]; }
must is_hole
restart_pvfs >/dev/null
must is_hole
unmount "$tmp/a" $daemon
