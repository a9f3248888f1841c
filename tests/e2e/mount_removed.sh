#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What a program has of an object whose names are gone, FIFOs, devices, sockets and what is
# open by O_PATH alone too, answers as on a local disk; and the daemon keeps nothing
# of it when the program has let go.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
for cache in none open; do
	mount_at "$tmp/$cache" -o cache=$cache
	must python3 "$e2e/mount_removed.py" "$tmp/$cache"
	expect '' ls -A "$tmp/$cache"
	unmount "$tmp/$cache" $daemon
done
