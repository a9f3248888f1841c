#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Random calls on a PVFS folder and on an ordinary one have the same results, as root and as another
# user, for several seeds (MODEL_SEEDS, MODEL_STEPS).
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

public model
start_pvfs -n 3
# the same mode as /pvfs, because "d/.." of the folders may lead there
mkdir -m 755 "$tmp/ordinary"
mkdir "$tmp/ordinary/open"
chmod 777 "$tmp/ordinary/open"
chmod 644 "$PVFSTAB_FILE"
chmod 755 "$state"
expect ok pvio mkdir /pvfs/open
expect ok pvio chmod 777 /pvfs/open

# a tmpfs does not support FALLOC_FL_ZERO_RANGE
[ "$(stat -f -c %T "$tmp")" != tmpfs ] || export MODEL_NO_ZEROING=1
for seed in ${MODEL_SEEDS:-1 2 3 4}; do
	model "$seed" "${MODEL_STEPS:-1500}" "/pvfs/$seed" \
		"$tmp/ordinary/$seed" || fail "seed $seed"
	[ "$(id -u)" = 0 ] || continue
	as_user 12345 12345 '' model "$seed" "${MODEL_STEPS:-1500}" \
		"/pvfs/open/$seed" "$tmp/ordinary/open/$seed" ||
		fail "seed $seed as another user"
done
