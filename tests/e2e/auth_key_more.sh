#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients that have to prove their identity: pvfs-fsck proves itself by the servers' key, and
# without the key no user can run it.  A program that writes for the first time at its exit
# completes that write.
. "$(dirname "$0")/functions.sh"

fsck() { timeout 120 "$PVFS_BUILD/mgr/fsck/pvfs-fsck" -t 20 "$@"; }
export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
start_pvfs -n 2 --transport tcp --set filesystem.auth=key --set filesystem.key_user=root \
	--set filesystem.seal=${AUTH_SEAL:-auth}
sed -i "s|transport=tcp|transport=tcp,auth=key,key=$state/key|" "$PVFSTAB_FILE"

# ---- pvfs-fsck ----

head -c 300000 /dev/urandom >data
must pvfs-cp -q data /pvfs/a
fsck --config "$state/pvfs.conf" >out 2>err || fail "pvfs-fsck: $(cat out err)"
grep -q '^1 files, 1 directories, 2 objects on 2 iods: 0 problems$' out || fail "$(cat out)"
# an orphan is found and removed
object=$(find "$state/iod1/objects" -type f)
cp "$object" kept
must pvfs-rm /pvfs/a
until_true 30 eval '! [ -e "$object" ]'
stays() { [ -e "$object" ] || cp kept "$object"; sleep 1; [ -e "$object" ]; }
until_true 30 stays
fsck --repair --config "$state/pvfs.conf" >out 2>err
[ $? = 1 ] || fail "pvfs-fsck --repair: $(cat out err)"
[ ! -e "$object" ] || fail "the orphan is still there: $(cat out)"
# a process with another key is not accepted as a server
(umask 077; head -c 32 /dev/urandom | od -An -vtx1 | tr -d ' \n' >other; echo >>other)
sed "s|^key = .*|key = $tmp/other|" "$state/pvfs.conf" >other.conf
must_fail fsck -t 3 --config other.conf
[ $? = 0 ] && ! grep -q 'problems$' output || fail "with another key: $(cat output)"

# ---- the end of a program ----

expect ok env PVFS_TIMEOUT=60 pvatexit /pvfs/late
expect 'written at the end' pvfs-cat /pvfs/late
