#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A directory of 100,000 entries is listed completely, with each name once, also while others are
# added and removed; then it is removed.
. "$(dirname "$0")/functions.sh"

count=100000
start_pvfs -n 2
expect ok pvio mkdir /pvfs/dir
expect ok pvio create /pvfs/dir file $count 16
say "made after $((SECONDS - started_at)) s"
pvio names /pvfs/dir | grep -vxE '\.\.?' | LC_ALL=C sort >"$tmp/names"
seq -f 'file%.0f' 0 $((count - 1)) | LC_ALL=C sort >"$tmp/wanted"
grep -vx ok "$tmp/names" | cmp - "$tmp/wanted" || fail "names differ"

# records of 32 bytes fill a reply to its last byte
expect ok pvio mkdir /pvfs/full
expect ok pvio create /pvfs/full f 4096 16
[ "$(pvio names /pvfs/full | grep -c '^f')" = 4096 ] || fail "full reply"

# permanent names are listed exactly once, whatever is added and removed meanwhile
(
	trap - EXIT
	until [ -e "$tmp/enough" ]; do
		pvio create /pvfs/dir extra 200 4
		for i in $(seq 0 7 199); do pvio unlink /pvfs/dir/extra$i; done
		pvfs-rm /pvfs/dir/extra*  2>/dev/null
	done >/dev/null 2>&1
) &
helpers+=($!)
for round in 1 2 3; do
	pvio names /pvfs/dir | grep '^file' | LC_ALL=C sort |
		cmp - "$tmp/wanted" || fail "round $round: names differ"
done
# ends the program that creates names, before they are removed
touch "$tmp/enough"
wait "${helpers[0]}"
helpers=()
restart_pvfs
pvio names /pvfs/dir | grep '^file' | LC_ALL=C sort |
	cmp - "$tmp/wanted" || fail "after the restart: names differ"
must pvfs-rm -r /pvfs/dir
expect ENOENT pvio stat /pvfs/dir
