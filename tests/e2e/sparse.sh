#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sizes and holes: ranges that were never written read as zeros, and the size is the highest offset,
# whichever iod has it.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 4
size() { pvio stat "$1" | awk 'NR == 1 { print $5 }'; }

# a write that ends on any of the four iods, after a hole
for off in 0 65536 131071 196608 262143 1000000 5000000000; do
	expect ok pvio write /pvfs/f$off $off 10 3
	expect $((off + 10)) size /pvfs/f$off
	expect ok pvio check /pvfs/f$off $off 10 3
done
must cmp -n 1000000 /dev/zero <(pvfs-cat /pvfs/f1000000)

# shrink, then extend: the cut-off bytes are zeros
expect ok pvio write /pvfs/cut 0 1000000 4
expect ok pvio truncate /pvfs/cut 300000
expect 300000 size /pvfs/cut
expect ok pvio check /pvfs/cut 0 300000 4
expect ok pvio truncate /pvfs/cut 1000000
expect 1000000 size /pvfs/cut
must cmp <(pvfs-cat /pvfs/cut | tail -c 700000) \
	<(head -c 700000 /dev/zero)

# blocks: prints the space at the iods, while a client writes and later
blocks() { pvio blocks "$1" | head -n 1; }
uses() {
	find "$state"/iod*/objects -name "$(pvfs-stat "$1" |
		awk '$1 == "handle" { print $2 }')" -printf '%b\n' |
		awk '{ n += $1 } END { print n + 0 }'
}
expect ok pvio creat /pvfs/none
expect 0 blocks /pvfs/none
expect "$(uses /pvfs/f1000000)" blocks /pvfs/f1000000
expect "$(uses /pvfs/f5000000000)" blocks /pvfs/f5000000000
mkfifo end
pvio hold /pvfs/f5000000000 <end >held &
writer=$!
exec 5>end
until_true 60 grep -q holding held
expect "$(uses /pvfs/f5000000000)" blocks /pvfs/f5000000000
exec 5>&-
must wait $writer
expect "$(uses /pvfs/f5000000000)" blocks /pvfs/f5000000000

# the same after a restart
restart_pvfs
expect 1000000 size /pvfs/cut
expect 5000000010 size /pvfs/f5000000000
