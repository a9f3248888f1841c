#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Another library that wraps calls of libc may be loaded before libpvfs-preload.so or after it.
# Files are correct, and the other library counts the program's calls if it is first. The library of
# this test works like Darshan's, of which Debian has no package.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

wrap=$PVFS_BUILD/tests/e2e/libpvwrap.so
all='open 2 fopen 1 read 3 write 3 pread 2 pwrite 2 lseek 2 fsync 1 close 2'

# stacked FOLDER LIBRARY...: runs pvcalls there with these libraries; the counts are in $tmp/counts
stacked() {
	local dir=$1
	shift

	PVWRAP_UNDER=$dir/ PVFS_PRELOAD_AFTER=0 \
		LD_PRELOAD="$before$*" pvcalls "$dir/f" 2>"$tmp/err" ||
		fail "in $dir, with $*"
	grep '^open' "$tmp/err" >"$tmp/counts" || fail "no counts"
}

# both FOLDER: checks both orders; if the other library is second, $tmp/counts has the calls that
# reached it
both() {
	stacked "$1" "$wrap" "$preload"
	expect "$all" cat "$tmp/counts"
	stacked "$1" "$preload" "$wrap"
}

is_there() {
	must pvfs-cp /pvfs/f "$tmp/copy"
	expect 01234567abcDExyz cat "$tmp/copy"
}

start_pvfs -n 2
# it counts the same without libpvfs-preload
mkdir "$tmp/local"
stacked "$tmp/local" "$wrap"
expect "$all" cat "$tmp/counts"

# on a mount, the kernel opens the descriptors, but data bypasses it
mount_at "$tmp/m" -o cache=none
both "$tmp/m"
grep -q "^open 2 .* read 0 write 0 pread 0 pwrite 0 .* close 2$" "$tmp/counts" ||
	fail "behind: $(cat "$tmp/counts")"
is_there
unmount "$tmp/m" $daemon

# without a mount, libpvfs serves all calls
mkdir "$tmp/point"
sed "s, /pvfs , $tmp/point ," "$PVFSTAB_FILE" >"$tmp/pvfstab"
must pvfs-rm /pvfs/f
PVFSTAB_FILE=$tmp/pvfstab both "$tmp/point"
expect "${all//[1-9]/0}" cat "$tmp/counts"
is_there
