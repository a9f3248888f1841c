#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# MPI programs open() data on a FUSE mount that MPI-IO wrote, in the same process and in another.
# They do so with each kind of cache, and with the preloaded library, which does not go through
# the mount.  The same must work if MPI-IO is given the mount's file names.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
# the two preloaded libraries must work in either order
orders=("$LIBMPIO" "$LIBMPIO:$preload" "$preload:$LIBMPIO")
for cache in none open; do
	# with cache=open an attribute may be a second old
	mount_at "$tmp/m" -o cache=$cache,attr_timeout=0
	for k in "${!orders[@]}"; do
		f=$cache$k
		LIBMPIO=${orders[k]} PVFS_PRELOAD_AFTER=0 \
			says_ok 3 "$MPI_PROGRAMS/opened" "pvfs:/pvfs/$f" "$tmp/m/$f"
		must pvfs-cp "/pvfs/$f" "$tmp/copy"
		must cmp "$tmp/copy" "$tmp/m/$f"
		must past cmp "$tmp/copy" "$tmp/m/$f"
		expect 900000 stat -c %s "$tmp/m/$f"
		# as an ordinary file, by MPICH's own way
		LIBMPIO=${orders[k]} PVFS_PRELOAD_AFTER=0 \
			says_ok 3 "$MPI_PROGRAMS/opened" "$tmp/m/$f.own" "$tmp/m/$f.own"
	done
	unmount "$tmp/m" $daemon
done
