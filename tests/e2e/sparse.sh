#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sizes and holes: what was never written reads as zeros, and the size is the
# highest offset, whichever iod has it.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 4
size() { pvio stat "$1" | awk 'NR == 1 { print $5 }'; }

# a write that ends on any of the four iods, behind a hole
for off in 0 65536 131071 196608 262143 1000000 5000000000; do
	expect ok pvio write /pvfs/f$off $off 10 3
	expect $((off + 10)) size /pvfs/f$off
	expect ok pvio check /pvfs/f$off $off 10 3
done
must cmp -n 1000000 /dev/zero <(pvfs-cat /pvfs/f1000000)

# shrink, then grow: the cut-off bytes do not come back
expect ok pvio write /pvfs/cut 0 1000000 4
expect ok pvio truncate /pvfs/cut 300000
expect 300000 size /pvfs/cut
expect ok pvio check /pvfs/cut 0 300000 4
expect ok pvio truncate /pvfs/cut 1000000
expect 1000000 size /pvfs/cut
must cmp <(pvfs-cat /pvfs/cut | tail -c 700000) \
	<(head -c 700000 /dev/zero)

# the same after a restart
restart_pvfs
expect 1000000 size /pvfs/cut
expect 5000000010 size /pvfs/f5000000000
