#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs_copy_file_range(): rejected arguments, offsets, partitions, removed files.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3
expect ok lib_copy /pvfs "$tmp"
