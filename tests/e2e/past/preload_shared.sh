#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two writes use a shared offset. The first one fails, and removes no data of the second one, in
# bypass of a mount and without a mount.
. "$(dirname "$0")/../functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 2
PVFS_TIMEOUT=8 mount_at "$tmp/m" -o cache=none
head -c 300000 /dev/zero >"$tmp/zeros"

# shared PATH: iod 0, which has the first stripe, is stopped until the first write has failed
shared() {
	must pvfs-cp -b 0 -n 2 -s 64K "$tmp/zeros" "/pvfs/$(basename "$1")"
	PVFS_TIMEOUT=8 past python3 "$e2e/past/preload_shared.py" "$1" \
		"$(cluster pid 0)" >"$tmp/said" 2>&1 || fail "$1: $(<"$tmp/said")"
	grep -q '^ok$' "$tmp/said" || fail "$1: $(<"$tmp/said")"
}
shared "$tmp/m/past"
shared /pvfs/path
unmount "$tmp/m" $daemon
