#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Random lists read and write the same as a model array, for several seeds (LISTS_SEEDS,
# LISTS_CASES): on PVFS over every available transport and, through the same calls, on an ordinary
# file.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

for transport in tcp local; do
	start_pvfs -n 3 --transport $transport
	for seed in ${LISTS_SEEDS:-1 2}; do
		must lists "$seed" "${LISTS_CASES:-$((sanitized ? 60 : 250))}" \
			"/pvfs/$seed" "$tmp/$transport$seed"
	done
	sound=()
	[ $transport = tcp ] || sound=(sound)
	must list_calls /pvfs/calls "$tmp/calls$transport" "${sound[@]}"
	state=$tmp/next
done
