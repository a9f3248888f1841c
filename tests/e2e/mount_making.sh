#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# New names through a mount are the same as on a local file system, and the reply to the creation
# has the attributes of the new object.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

n=100
start_pvfs -n 2
requests() { pvfs-ping | awk '$1 == "mgr" && $3 == "up" { print $8 }'; }

mkdir "$tmp/local"
for cache in none open; do
	mount_at "$tmp/a" -o cache=$cache,attr_timeout=3600,entry_timeout=3600
	mkdir "$tmp/a/$cache"
	for kind in mkdir symlink link fifo file; do
		rm -rf "$tmp/local"
		mkdir "$tmp/local"
		must python3 "$e2e/mount_making.py" "$tmp/local" $kind $n >"$tmp/want"
		must python3 "$e2e/mount_making.py" "$tmp/a/$cache" $kind 0
		before=$(requests)
		must python3 "$e2e/mount_making.py" "$tmp/a/$cache" $kind $n >"$tmp/have"
		took=$(($(requests) - before))
		if ! diff "$tmp/want" "$tmp/have"; then
			fail "$kind, cache=$cache: see above"
		fi
		# the kernel looks the name up before, and asks for the directory afterwards
		say "$kind, cache=$cache: $took requests for $n"
		most=$((n * 7 / 2))
		[ $kind != file ] || most=$((n * 9 / 2)) # it is opened, and closed
		[ $took -lt $most ] || fail "a request too many"
	done
	unmount "$tmp/a" $daemon
done
