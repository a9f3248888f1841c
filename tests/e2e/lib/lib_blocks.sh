#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# st_blocks of a closed file is the space of its objects, however it was written. If a file has no
# holes, the manager does not ask the iods.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3
expect ok lib_blocks /pvfs "$state"

# the manager asks once, in the background
asks() {
	local before=$(requests_of GETSIZE)

	pvio blocks "/pvfs/$1" >/dev/null || fail "$1: no blocks"
	[ "$(requests_of GETSIZE)" != "$before" ]
}
asks_no_more() { ! asks "$1"; }
for file in out_of_order filled_later list_without_gaps; do
	until_true 30 asks_no_more $file
done
for file in longer_then_written punched; do
	asks $file || fail "$file: its iods are not asked for its space"
done

# an unavailable iod does not delay a stat
expect ok pvio write /pvfs/down 1000000 10 1
must cluster kill-iod 1
size() { PVFS_TIMEOUT=3 pvio stat "$1" | awk 'NR == 1 { print $5 }'; }
expect 1000010 size /pvfs/down
