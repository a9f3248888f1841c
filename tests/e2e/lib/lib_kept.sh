#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Files that are closed while the manager is stopped keep no locks.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2
PVFS_TIMEOUT=3 PVFS_LOG=none expect ok timeout 100 lib_kept /pvfs 100 \
	"$(cluster pid mgr)"
