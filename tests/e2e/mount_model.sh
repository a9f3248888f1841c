#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Random calls in a mounted folder and in an ordinary one have the same results: as root and as
# another user, with both caches (MODEL_SEEDS, MODEL_STEPS).
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

public model
start_pvfs -n 3
mkdir -m 755 "$tmp/ordinary"
mkdir -m 777 "$tmp/ordinary/open"
chmod 755 "$tmp"
for options in no_default_permissions cache=none cache=open; do
	mount_at "$tmp/m" -o $options
	mkdir "$tmp/m/open"
	chmod 777 "$tmp/m/open" "$tmp/ordinary/open"
	for seed in ${MODEL_SEEDS:-1 2}; do
		model "$seed" "${MODEL_STEPS:-1000}" "$tmp/m/$seed" \
			"$tmp/ordinary/$seed" || fail "$options: seed $seed"
		MODEL_ANY_ERROR=1 as_user 12345 12345 '' model "$seed" "${MODEL_STEPS:-1000}" \
			"$tmp/m/open/$seed" "$tmp/ordinary/open/$seed" ||
			fail "$options: seed $seed as another user"
		rm -r "$tmp/ordinary/$seed" "$tmp/ordinary/open/$seed" \
			"$tmp/m/$seed" "$tmp/m/open/$seed"
	done
	rmdir "$tmp/m/open"
	unmount "$tmp/m" $daemon
done
