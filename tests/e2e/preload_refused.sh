#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Without a mount: calls that the library does not support fail, with a line that names the remedy,
# and nothing is written to the local folder of that name. With a mount, all calls use the mount.
. "$(dirname "$0")/functions.sh"
. "$e2e/preloading.sh"

start_pvfs -n 2
mkdir "$tmp/point"
sed "s, /pvfs , $tmp/point ," "$PVFSTAB_FILE" >"$tmp/pvfstab"
PVFSTAB_FILE=$tmp/pvfstab
past timeout 300 python3 "$e2e/preload_refused.py" "$tmp/point" \
	>"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err"; fail "see above"; }
grep -q "all of it" "$tmp/out" || fail "it did not come to its end"
for call in mmap bind open execv posix_spawn chdir nftw; do
	grep -q "pvfs-preload: $call of .* mount it" "$tmp/err" ||
		fail "no line about $call"
done
expect "" find "$tmp/point" -mindepth 1

# if the library is switched off, or the path is mounted, calls behave as without it
PVFS_PRELOAD=off past cp "$tmp/out" "$tmp/point/local"
must cmp "$tmp/out" "$tmp/point/local"
small_disk "$tmp/point" 1
past cp "$tmp/out" "$tmp/point/mounted"
must cmp "$tmp/out" "$tmp/point/mounted"
