#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Blocks of an array, buffered and not, on PVFS and on an ordinary file.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3
for seed in 1 2 3 4; do
	must mdbi "$seed" "/pvfs/$seed"
	must mdbi "$seed" "$tmp/$seed"
done
