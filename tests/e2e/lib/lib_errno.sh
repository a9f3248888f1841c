#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Successful calls do not change errno.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2
expect ok lib_errno /pvfs
