#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Files opened by handle.
. "$(dirname "$0")/../functions.sh"

start_pvfs -n 2
must "$PVFS_BUILD/tests/e2e/lib/lib_handle" /pvfs/file "$tmp/ordinary"
