#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Servers upgrade the storage of the previous release, although its disks are full to the last byte.
# Afterwards files can be removed.
. "$(dirname "$0")/functions.sh"

small_disk "$state/mgr" 140
small_disk "$state/iod0" 8
start_pvfs -n 2
head -c 300000 /dev/urandom >data
must pvfs-cp -q data /pvfs/a
must cluster stop

# changes the storage to the format of the previous release
age() {
	sed 's/^version 2$/version 1/' "$1/pvfs-stamp" >aged &&
		cp aged "$1/pvfs-stamp" || fail "no stamp in $1"
	grep -q '^version 1$' "$1/pvfs-stamp" || fail "$1 is of version 1 anyway"
	cp "$1/pvfs-stamp" "$2.before"
}
fill() {
	dd if=/dev/zero of="$1/theirs" bs=64k 2>/dev/null
	dd if=/dev/zero of="$1/rest" bs=1 2>/dev/null
	[ ! -s "$1/rest" ] || fail "$1 is not full"
}
for server in mgr iod0; do
	age "$state/$server" $server
	fill "$state/$server"
done
must cluster start
for server in mgr iod0; do
	sed 's/^version 1$/version 2/' $server.before |
		must cmp - "$state/$server/pvfs-stamp"
	[ ! -e "$state/$server/pvfs-stamp.new" ] || fail "$server: a rest"
done
must cmp data <(pvfs-cat /pvfs/a)
must pvfs-rm /pvfs/a
nothing() { [ "$(objects)" = 0 ]; }
until_true 30 nothing
must restart_pvfs

# a read-only storage, as for a unit that may not write there
must cluster stop
must mount -o remount,ro "$state/iod0"
must_fail "$PVFS_BUILD/server/pvfs-iod" --config "$state/pvfs.conf" --index 0
grep -q "iod0 is read-only here: .* ReadWritePaths=$state/iod0\$" "$tmp/output" || fail "$(cat "$tmp/output")"
expect 1 grep -c error: "$tmp/output"
must mount -o remount,ro "$state/mgr"
must_fail "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" --check
grep -q 'mgr is read-only here' "$tmp/output" || fail "$(cat "$tmp/output")"
! grep 'not whole' "$tmp/output" || fail "it was not looked at"
