#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-fuse tells a service manager when the mount is ready, and when it ends.
. "$(dirname "$0")/functions.sh"
. "$(dirname "$0")/mounting.sh"
requires tool python3

start_pvfs -n 1
"$e2e/notified.py" listen @pvfs-notified-$$ >heard 2>&1 &
helpers+=($!)
until_true 30 grep -q listens heard
NOTIFY_SOCKET=@pvfs-notified-$$ mount_at "$tmp/mnt"
until_true 60 grep -q ' READY=1' heard
must touch "$tmp/mnt/there"
unmount "$tmp/mnt" "$daemon"
until_true 60 grep -q ' STOPPING=1' heard
grep -c ' READY=1' heard | grep -qx 1 || fail "$(cat heard)"
