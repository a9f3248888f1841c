#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Appends go to the end of the file, whichever call extended it; as root, and as another user, who
# no longer has rights to the file.
. "$(dirname "$0")/../functions.sh"
. "$e2e/late_append.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

public lib_append
start_pvfs -n 3 --set mgr.session_timeout=2
chmod 644 "$PVFSTAB_FILE"
chmod 755 "$state" "$tmp"
expect ok pvio chmod 777 /pvfs
expect ok lib_append /pvfs
[ "$(id -u)" != 0 ] || expect ok as_user 12345 12345 '' lib_append /pvfs

late_append pvio append /pvfs/log 1 100 late
