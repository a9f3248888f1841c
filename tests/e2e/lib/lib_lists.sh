#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Random lists read and write as an array says, for some seeds (LISTS_SEEDS,
# LISTS_CASES): on PVFS and, through the same calls, on an ordinary file.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3
for seed in ${LISTS_SEEDS:-1 2 3 4 5 6}; do
	lists "$seed" "${LISTS_CASES:-$((sanitized ? 80 : 400))}" "/pvfs/$seed" "$tmp/$seed" ||
		fail "seed $seed"
done
must list_calls /pvfs/calls "$tmp/calls"
