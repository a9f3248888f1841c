#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The times of a file that is being written, as another process sees them.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2
expect ok lib_times /pvfs
