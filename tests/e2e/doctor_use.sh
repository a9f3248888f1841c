#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-doctor without options finds the cause if an ls, read or write of this user fails: full
# disks, missing rights, read-only networks, mounts that hang or are gone.
. "$(dirname "$0")/functions.sh"
requires root
requires tcp
requires tool setpriv
. "$e2e/mounting.sh"
unset PVFS_LOG
public pvfs-doctor
small_disk "$state/iod1" 150
small_disk "$state/mgr" 200
start_pvfs -n 2
chmod 755 "$state"

# A host that has only these mounts: other tests have mounts, too.
host=$tmp/host
mkdir -p "$host/proc/self" "$host/etc"
touch "$host/proc/self/mounts" "$host/etc/fstab"
skipped=clock,users,descriptors,memlock,rdma-port,rdma-gid,rdma-mtu,rdma-cm,memory,huge-pages,shm
patience=20
doctor() { "$@" pvfs-doctor --root "$host" --skip "$skipped,ptrace,tcp,version" -t "$patience" >found 2>err; }
well() {
	doctor "$@" || fail "exit $?: $(cat found err)"
	grep -q ': 0 found, 0 not seen$' found || fail "$(cat found)"
}
# finds CHECK WHAT FIX [COMMAND...]
finds() {
	local check=$1 what=$2 fix=$3
	shift 3

	doctor "$@"
	[ $? = 1 ] || fail "$check: exit not 1: $(cat found err)"
	grep -A 1 -E "^found: $check(, [a-z0-9 ]*)?: .*$what" found | grep -qE "^    fix: .*$fix" ||
		fail "$check: no '$what' with the fix '$fix': $(cat found err)"
}
alice() { as_user 1001 1001 '' "$@"; }
# fill DIR: fills the file system until no block is free
fill() { dd if=/dev/zero of="$1/much" bs=64k >"$tmp/err" 2>&1; }
# It removes its files.
files_of() { pvfs-ls -a "$1" | grep -vx '\.\.\?'; }

well env
expect "" files_of /pvfs

# ---- rights ----
finds use 'no directory in which user 1001 may write' 'pvfs-mkdir' alice
must pvfs-mkdir /pvfs/group /pvfs/group/alice
must pvfs-chown 1001:1001 /pvfs/group/alice
well alice
expect alice files_of /pvfs/group
expect "" files_of /pvfs/group/alice
must pvfs-chmod 700 /pvfs
finds use 'ls of /pvfs fails: Permission denied' 'the owner, or the administrator' alice
must pvfs-chmod 755 /pvfs

# ---- full disks ----
fill "$state/iod1"
finds use 'No space left on device' 'remove files'
finds space 'has 0 MiB left' 'remove files'
rm "$state/iod1/much"
well env
fill "$state/mgr"
is_full() { pvfs-mkdir "/pvfs/dir$((made++))" 2>err; grep -q 'No space' err; }
made=0
until_true 60 is_full
finds use 'create of /pvfs/.* No space left on device' 'remove files'
rm "$state/mgr/much"
until_true 60 pvfs-mkdir -p /pvfs/again
well env

# ---- a mount ----
mount_at "$tmp/m"
grep " $tmp/m " /proc/self/mounts >"$host/proc/self/mounts"
well env
# the limit of this user's programs
finds mounted "write of $tmp/m/.*: File too large" 'ulimit -f' \
	bash -c 'ulimit -f 64; exec "$@"' -
server=$(pgrep -P "$daemon")
stand_still "$server"
patience=5
finds mounted "$tmp/m: the mount does not answer" 'kill -CONT'
patience=20
kill -CONT "$server"
well env
unmount "$tmp/m" "$daemon"
# through the mount it writes to each iod, whichever has the first stripe of a file
sed 's/port=/timeout=2,port=/' "$PVFSTAB_FILE" >brief
PVFSTAB_FILE=$tmp/brief mount_at "$tmp/m"
must cluster stop-iod 1
for turn in 1 2; do
	finds mounted "write of $tmp/m/.* fails: " '' env PVFSTAB_FILE=/dev/null
done
must cluster start-iod 1
unmount "$tmp/m" "$daemon"
# a mount whose daemon and guard were killed
python3 - "$tmp/m" <<'END' || fail "no mount"
import ctypes, os, sys
fd = os.open("/dev/fuse", os.O_RDWR)
options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % fd
sys.exit(ctypes.CDLL(None).mount(b"pvfs", sys.argv[1].encode(), b"fuse.pvfs", 0, options))
END
finds mounted "stat of $tmp/m fails: Transport endpoint is not connected" 'fusermount3 -uz'
umount -l "$tmp/m"
: >"$host/proc/self/mounts"
well env
echo "mgr:/ $tmp/m fuse.pvfs port=3000 0 0" >"$host/etc/fstab"
finds fuse "$tmp/m of .*fstab is not mounted" 'mount it'
echo "mgr:/ $tmp/m fuse.pvfs port=3000,x-systemd.automount 0 0" >"$host/etc/fstab"
doctor env # it is mounted when it is used
grep 'is not mounted' found && fail "a mount that is made at its first use"
: >"$host/etc/fstab"

# ---- networks ----
sed -i "s|^\[mgr\]\$|&\nread_only = 127.0.0.1|" "$state/pvfs.conf"
must cluster restart
finds use 'fails: Read-only file system' 'may only read'
