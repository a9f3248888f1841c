#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Paths that are relative to a directory's descriptor.
. "$(dirname "$0")/../functions.sh"

start_pvfs -n 2
must mkdir "$tmp/ordinary"
must "$PVFS_BUILD/tests/e2e/lib/lib_at" /pvfs "$tmp/ordinary"
