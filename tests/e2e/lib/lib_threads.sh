#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Threads of one process share a mount, a descriptor, an append file and a
# directory.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 4
expect ok pvio mkdir /pvfs/threads
expect ok lib_threads /pvfs/threads
