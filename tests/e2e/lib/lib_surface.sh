#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls of PVFS 1, on PVFS and on ordinary files.
. "$(dirname "$0")/../functions.sh"

start_pvfs -n 2
must mkdir "$tmp/ordinary"
must "$PVFS_BUILD/tests/e2e/lib/lib_surface" /pvfs "$tmp/ordinary"
