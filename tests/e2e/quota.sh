#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The storages of an iod and of the manager reach a disk quota (EDQUOT), which statvfs() does not
# show. Clients get EDQUOT from the iod and ENOSPC from the manager. No acknowledged change is lost,
# and the servers continue once the quota is raised.
. "$(dirname "$0")/functions.sh"
requires root
requires tool mkfs.btrfs

# quota NAME MIB: sets the quota of the storage of server NAME. It is read from the disk, because a
# change of a used-up quota may fail
quota() {
	must btrfs -q qgroup limit "$2M" "0/$(btrfs inspect-internal rootid "$tmp/disk/$1")" "$tmp/disk"
}

# storage_with_quota NAME MIB
storage_with_quota() {
	must btrfs -q subvolume create "$tmp/disk/$1"
	quota "$@"
	chmod 700 "$tmp/disk/$1"
	mkdir -p "$state/$1"
	must mount --bind "$tmp/disk/$1" "$state/$1"
	mounts=("$state/$1" "${mounts[@]}")
}

truncate -s 2G image
mkdir disk
{ mkfs.btrfs -q image && mount -o loop image disk; } >err 2>&1 ||
	skip "no btrfs here: $(tail -n 1 err)"
mounts+=("$tmp/disk")
btrfs quota enable disk 2>err || skip "btrfs has no quotas here: $(tail -n 1 err)"
storage_with_quota iod1 16
storage_with_quota mgr 150

# until_refused FILE: other data fills the quota
until_refused() {
	dd if=/dev/zero of="$1" bs=64k oflag=append conv=notrunc,fsync 2>err
	grep -q 'Disk quota exceeded' err || fail "no quota: $(<err)"
}
writes() { [ "$(pvio write /pvfs/again 0 10000000 5)" = ok ]; }

start_pvfs -n 3
iod=$(cluster pid 1)

# an iod
expect ok pvio write /pvfs/before 0 1000000 1
must_fail pvio write /pvfs/fills 0 100000000 2
expect EDQUOT tail -n 1 "$tmp/output"
expect ok pvio check /pvfs/before 0 1000000 1
expect ok pvio mkdir /pvfs/dir
must pvfs-cp -q -b 2 -n 2 "$PVFSTAB_FILE" /pvfs/dir/elsewhere
must cmp "$PVFSTAB_FILE" <(pvfs-cat /pvfs/dir/elsewhere)
head -c 60M /dev/zero | tr '\0' x >in
must_fail pvfs-cp in /pvfs/copy
grep -q 'Disk quota exceeded' "$tmp/output" || fail "$(<"$tmp/output")"
[ "$(cluster pid 1)" = "$iod" ] || fail "the iod did not survive"
# a restart while the quota is used up
until_refused "$state/iod1/theirs"
must cluster kill-iod 1
if ! cluster start-iod 1 >"$tmp/output"; then
	tail -n 3 "$(log_of iod1)" | grep -qi 'quota' || fail "it does not say why: $(<"$tmp/output")"
	quota iod1 20
	must cluster start-iod 1
fi
iod=$(cluster pid 1)
expect ok pvio check /pvfs/before 0 1000000 1
quota iod1 200
until_true 30 writes
expect ok pvio check /pvfs/again 0 10000000 5
expect ok pvio check /pvfs/before 0 1000000 1
[ "$(cluster pid 1)" = "$iod" ] || fail "the iod did not survive"

# The manager, while a client records the acknowledged changes. This file system copies on write, so
# the flush of a change in progress may fail: the change waits, and later ones fail.
works() { PVFS_TIMEOUT=2 pvio chmod 640 /pvfs/before >"$tmp/output" 2>&1; }
refused() { ! works && [ "$(tail -n 1 "$tmp/output")" = ENOSPC ]; }
mkfifo go
PVFS_TIMEOUT=300 pvledger /pvfs/ledger 1 <go >ledger 2>&1 &
ledger=$!
helpers+=("$ledger")
exec 5>go
mgr=$(cluster pid mgr)
for round in 1 2 3; do
	until_refused "$state/mgr/theirs"
	until_true 30 refused
	expect ok pvio check /pvfs/before 0 1000000 1
	quota mgr $((150 + 100 * round))
	until_true 30 works
done
[ "$(cluster pid mgr)" = "$mgr" ] || fail "the manager did not survive"

# killed and started while the quota is used up
for round in 1 2 3; do
	until_refused "$state/mgr/theirs"
	must cluster kill-mgr
	until_refused "$state/mgr/theirs"
	if ! cluster start-mgr 5>&- >start 2>&1; then
		grep -q 'too full to recover it: free .* MiB' "$(log_of mgr)" ||
			fail "it does not say what to do: $(<start)"
		quota mgr $((450 + 100 * round))
		must cluster start-mgr 5>&-
	fi
	expect ok pvio check /pvfs/before 0 1000000 1
	quota mgr $((450 + 100 * round))
	until_true 30 works
done
exec 5>&-
wait "$ledger" || fail "$(<ledger)"
helpers=()
say "$(<ledger)"
grep -q ' [1-9][0-9]* refused' ledger || fail "nothing was refused"
clean() { "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf" >fsck 2>&1; }
until_true 60 clean
! grep -qi 'restore' "$(log_of mgr)" || fail "bad advice"
