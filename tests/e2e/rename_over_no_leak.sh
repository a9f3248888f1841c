#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A file that a rename replaces or an unlink removes, and data that a truncate cuts off, leave
# nothing on the iods.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 3
used() { du -sk "$state"/iod* | awk '{ s += $1 } END { print s }'; }
have() { [ "$(objects)" = "$1" ]; }

expect ok pvio creat /pvfs/empty
empty=$(used)
for i in $(seq 20); do
	expect ok pvio write /pvfs/new 0 3000000 "$i"
	expect ok pvio rename /pvfs/new /pvfs/kept
done
expect ok pvio check /pvfs/kept 0 3000000 20
until_true 30 have 3
[ "$(used)" -lt $((empty + 4000)) ] || fail "space leaks: $empty -> $(used) KiB"

expect ok pvio truncate /pvfs/kept 0
expect ok pvio unlink /pvfs/kept
until_true 30 have 0

# an unavailable iod gets its removals when it is back
expect ok pvio write /pvfs/later 0 3000000 1
must cluster stop-iod 1
expect ok pvio unlink /pvfs/later
expect ENOENT pvio stat /pvfs/later
must cluster start-iod 1
until_true 60 have 0

# ... also if the manager was restarted meanwhile
expect ok pvio write /pvfs/later 0 3000000 1
must cluster stop-iod 2
expect ok pvio unlink /pvfs/later
must cluster kill-mgr
must cluster start-mgr
must cluster start-iod 2
until_true 60 have 0
