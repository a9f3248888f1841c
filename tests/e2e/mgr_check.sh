#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-mgr --check finds damage that a start does not detect, in a page in the middle of a table. It
# does not change a store in use, and creates no store in an empty folder.
. "$(dirname "$0")/functions.sh"

check() { "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" --check; }
says() { grep -qF -- "$1" "$tmp/output" || fail "no '$1' in: $(cat "$tmp/output")"; }

start_pvfs -n 1
mkdir files
for i in {1..300}; do : >"files/a-name-that-takes-some-room-$i"; done
must pvfs-cp -r files /pvfs/ >/dev/null
must_fail check
says 'is another daemon running'
must cluster kill-mgr
must check # what was only in the log is there
must check
must cluster start-mgr
must cluster stop

# a check by root leaves no files that the daemon's user cannot use
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$state"
	chown -R 65534:65534 "$state/mgr"
	must check
	strange=$(find "$state/mgr" ! -uid 65534 -o ! -gid 65534)
	[ -z "$strange" ] || fail "not the daemon's any more: $strange"
	[ -e "$state/mgr/db/log.0000000002" ] || fail "the next log is gone"
	chown -R 0:0 "$state/mgr"
else
	say "not tried as root"
fi

cp -r "$state/mgr" "$tmp/good"
pages=$(($(stat -c %s "$state/mgr/db/dirents") / 4096))
[ $pages -ge 5 ] || fail "only $pages pages"
found=0
for ((page = 2; page < pages; page++)); do
	dd if=/dev/zero of="$state/mgr/db/dirents" bs=4096 count=1 seek=$page \
		conv=notrunc status=none
	must_fail check
	says 'table dirents is damaged'
	says 'table inodes is whole'
	says 'restore the folder from a backup'
	rm -r "$state/mgr" && cp -r "$tmp/good" "$state/mgr"
	found=$((found + 1))
done
say "$found pages of zeros found"
printf x | dd of="$state/mgr/db/symlinks" bs=1 seek=6000 conv=notrunc status=none
must_fail check
says 'table symlinks'
rm "$state/mgr/db/locks"
must_fail check
says "table locks: the file $state/mgr/db/locks is gone"

rm -r "$state/mgr" && mkdir "$state/mgr"
must_fail check
says 'is its file system mounted'
[ -z "$(ls -A "$state/mgr")" ] || fail "something was made"
