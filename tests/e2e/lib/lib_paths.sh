#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Symlinks, ".." and relative paths lead into mounts, out of them and from
# one to another.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3
{
	cat "$PVFSTAB_FILE"
	sed 's| /pvfs | /second/mount |' "$PVFSTAB_FILE"
} >"$tmp/pvfstab"
export PVFSTAB_FILE=$tmp/pvfstab
mkdir "$tmp/out"
expect ok lib_paths /pvfs /second/mount "$tmp/out"
