#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The descriptor of a PVFS file rejects ordinary I/O, also after an exec.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 1
expect ok timeout 120 lib_descriptors /pvfs/file "$tmp/ordinary"
