#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-cp looks for data before it reads. It copies a file of holes in, out and within the file
# system. Within the file system, the servers copy.
. "$(dirname "$0")/functions.sh"

hole=$((1 << 42)) # it ends with data
small() {
	local used
	used=$(du -cm "$@" | awk 'END { print $1 }')
	[ "$used" -le 32 ] || fail "the holes take space: $used MiB"
}
# Writes PIECE between holes in one write, and at both ends of the file.
make_file() {
	truncate -s $hole "$1"
	head -c 3000000 /dev/urandom >"$tmp/data"
	for at in 0 $((hole / 3)) $((hole - 3000000)); do
		dd if="$tmp/data" of="$1" oflag=seek_bytes bs=1M seek=$at \
			conv=notrunc status=none
	done
}
# Compares the three pieces, and not the holes between them.
same_data() {
	for at in 0 $((hole / 3)) $((hole - 3000000)); do
		must cmp "$tmp/data" <(dd if="$1" iflag=skip_bytes,count_bytes \
			bs=1M skip=$at count=3000000 status=none)
	done
}

start_pvfs -n 4
make_file "$tmp/in"
must timeout 300 pvfs-cp "$tmp/in" /pvfs/a
must timeout 300 pvfs-cp /pvfs/a /pvfs/b
must timeout 300 pvfs-cp /pvfs/b "$tmp/out"
expect $hole stat -c %s "$tmp/out"
same_data "$tmp/out"
small "$tmp/out" "$state"/iod*/objects
grep -q 'pvfs-iod [0-3]).*opens session' "$(log_of iod0)" ||
	fail "no iod has copied from another one"
# the holes are found by few requests, not one for each piece
asked=$(requests_of SEEK)
[ "$asked" -gt 0 ] && [ "$asked" -le 500 ] || fail "$asked requests for the holes: $(<"$tmp/stats")"
# --verify reads the holes back
must timeout 300 pvfs-cp --verify "$tmp/in" /pvfs/b
must timeout 300 pvfs-cp --verify /pvfs/b "$tmp/out"
same_data "$tmp/out"
small "$tmp/out" "$state"/iod*/objects

# with another striping the client copies and compares
head -c 9000000 /dev/urandom >"$tmp/dense"
must pvfs-cp "$tmp/dense" /pvfs/dense
must pvfs-cp --verify -s 100000 -n 3 /pvfs/dense /pvfs/other
must pvfs-cp --verify /pvfs/dense /pvfs/alike
must cmp "$tmp/dense" <(pvfs-cat /pvfs/other)
must cmp "$tmp/dense" <(pvfs-cat /pvfs/alike)
