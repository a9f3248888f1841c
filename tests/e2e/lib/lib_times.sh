#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Another process reads the times of a file while it is written.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2
expect ok lib_times /pvfs
