#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Extended attributes, special files and exchanged names are there after the manager was killed.
# Attributes have limits. Removed objects leave no attributes, and nothing is reported as damage.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 2
fsck() { "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf"; }
clean() { fsck >"$tmp/fsck" 2>&1; }
kind() { pvfs-stat "$1" | grep -o 'special file' | head -n 1; }
repeat() { printf "%${2}s" '' | tr ' ' "$1"; }

expect ok pvio write /pvfs/one 0 200000 7
expect ok pvio mkdir /pvfs/two
expect ok pvio setxattr /pvfs/one user.short value
expect ok pvio setxattr /pvfs/one user.long "$(repeat v 4096)"
expect ENOSPC pvio setxattr /pvfs/one user.more "$(repeat v 4097)"
expect ENOSPC pvio setxattr /pvfs/one user.short "$(repeat v 4097)"
expect E2BIG pvio setxattr /pvfs/one user.more "$(repeat v 65537)"
expect ok pvio setxattr /pvfs/one "user.$(repeat n 250)" long
expect ERANGE pvio setxattr /pvfs/one "user.$(repeat n 251)" longer
expect EINVAL pvio setxattr /pvfs/one system.posix_acl_access x
expect ok pvio setxattr /pvfs/two user.of directory
for i in $(seq 45); do expect ok pvio setxattr /pvfs/one user.$i $i; done
expect ENOSPC pvio setxattr /pvfs/one user.46 46
expect ok pvio setxattr /pvfs/one user.45 other
expect ok pvio mkfifo /pvfs/fifo
expect ENXIO pvio openw /pvfs/fifo
expect EINVAL pvio truncate /pvfs/fifo 0
expect ok pvio exchange /pvfs/one /pvfs/two

must cluster kill-mgr
must cluster start-mgr
expect 'value
ok' pvio getxattr /pvfs/two user.short
expect "$(repeat v 4096)
ok" pvio getxattr /pvfs/two user.long
expect 'long
ok' pvio getxattr /pvfs/two "user.$(repeat n 250)"
expect 'other
ok' pvio getxattr /pvfs/two user.45
expect ENODATA pvio getxattr /pvfs/two user.46
expect 'directory
ok' pvio getxattr /pvfs/one user.of
expect ok pvio check /pvfs/two 0 200000 7
expect 'special file' kind /pvfs/fifo
until_true 60 clean

expect ok pvio removexattr /pvfs/two user.short
expect ENODATA pvio removexattr /pvfs/two user.short
expect ok pvio unlink /pvfs/two
expect ok pvio rmdir /pvfs/one
expect ok pvio unlink /pvfs/fifo
none_left() { [ "$(objects)" = 0 ]; }
until_true 30 none_left
until_true 60 clean
expect 'whole' bash -c \
	"$PVFS_BUILD/client/tools/pvfs-ls /pvfs | wc -l | sed s/^0$/whole/"
