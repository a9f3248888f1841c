#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Four processes write one file, whose bytes they share in turn, and find their own data: through
# one mount and two, in bypass of them, with each kind of cache, and by mappings (LANES_STEPS).
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
as_is() { "$@"; }
lanes() {
	must $how timeout 200 pvlanes $1 $RANDOM "${LANES_STEPS:-150}" 4 "${@:2}"
}
# All processes use two pages, which the kernel caches, drops and reads again.
narrow() {
	local how=as_is i

	for i in {1..10}; do lanes '-n 8' "$@"; done
}
for cache in none open; do
	mount_at "$tmp/a" -o cache=$cache,attr_timeout=0,entry_timeout=0
	first=$daemon
	mount_at "$tmp/b" -o cache=$cache,attr_timeout=0,entry_timeout=0
	for how in as_is past; do
		lanes '' "$tmp/a/f"
		[ $cache = open ] || lanes '' "$tmp/a/f" "$tmp/b/f"
		lanes -r "$tmp/a/f" "$tmp/b/f"
		if [ $cache = open ] || maps_shared; then
			lanes -m "$tmp/a/f"
			lanes '-r -m' "$tmp/a/f"
		fi
	done
	[ $cache = none ] || narrow "$tmp/a/f"
	unmount "$tmp/a" $first
	unmount "$tmp/b" $daemon
done
