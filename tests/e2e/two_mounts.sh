#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two file systems in one pvfstab: the longest prefix wins, paths outside are ordinary files, and a
# rename from one to the other fails.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 2
first=$state
state=$tmp/second
start_pvfs -n 1
{
	sed 's|/pvfs|/pvfs|' "$first/pvfstab"
	sed 's|/pvfs|/pvfs/inner|' "$state/pvfstab"
} >"$tmp/pvfstab"
export PVFSTAB_FILE=$tmp/pvfstab

expect ok pvio write /pvfs/a 0 500000 1
expect ok pvio write /pvfs/inner/a 0 500000 2
expect ok pvio check /pvfs/a 0 500000 1
expect ok pvio check /pvfs/inner/a 0 500000 2
expect EXDEV pvio rename /pvfs/a /pvfs/inner/b
expect EXDEV pvio link /pvfs/a /pvfs/inner/b
must pvfs-cp -q /pvfs/a /pvfs/inner/copy
expect ok pvio check /pvfs/inner/copy 0 500000 1
must_fail pvfs-mv /pvfs/a /pvfs/inner/moved
expect ok pvio check /pvfs/a 0 500000 1
expect ENOENT pvio stat /pvfs/inner/moved
expect ok pvio write "$tmp/ordinary" 0 500000 3
expect ok pvio check "$tmp/ordinary" 0 500000 3
[ "$(stat -c %s "$tmp/ordinary")" = 500000 ] || fail "not an ordinary file"
[ ! -e /pvfs ] || fail "/pvfs was made in the root of this machine"
