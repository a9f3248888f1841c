#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A large read completes with its last bytes, without a reply, if the object continues after them.
# Otherwise the size in the reply gives the end of the file.
. "$(dirname "$0")/functions.sh"
# this test does not cover access without requests
export PVFS_DIRECT=off

start_pvfs -n 3

expect ok pvio write /pvfs/f 0 9000000 7
expect ok pvio check /pvfs/f 0 9000000 7
expect 9000000 eval 'pvfs-cat /pvfs/f | wc -c'
n=$(metric 0 bulk_unanswered)
[ "$n" -ge 8 ] || fail "$n reads ended without a reply"

# the iod of the last bytes has some of them; the other objects are longer, shorter or missing
for end in 3145728 3276800 3300000; do
	expect ok pvio write /pvfs/s$end $end 100 3
	expect ok pvio write /pvfs/s$end 0 1000000 4
	expect $((end + 100)) eval "pvfs-cat /pvfs/s$end | wc -c"
	expect ok pvio check /pvfs/s$end 0 1000000 4
	expect ok pvio check /pvfs/s$end $end 100 3
	must cmp <(pvfs-cat /pvfs/s$end | tail -c +1000001 |
		head -c $((end - 1000000))) \
		<(head -c $((end - 1000000)) /dev/zero)
done
