#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Handlers that jump, fork and read, cancelled threads, and children of all kinds have the same
# effect on calls that bypass the mount as on the kernel's calls.
. "$(dirname "$0")/../functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
mount_at "$tmp/m" -o cache=none
expect "all of it" past timeout 120 "$PVFS_BUILD/tests/e2e/past/pvjump" "$tmp/m/f"
grep -q "pvjump): opens session" "$(log_of mgr)" ||
	fail "it did not go past the mount"
unmount "$tmp/m" $daemon

# jumps out of calls on paths without a mount
mkdir "$tmp/point"
sed "s, /pvfs , $tmp/point ," "$PVFSTAB_FILE" >"$tmp/pvfstab"
PVFSTAB_FILE=$tmp/pvfstab expect "all of it" past timeout 60 \
	"$PVFS_BUILD/tests/e2e/past/pvjump" "$tmp/point/f" jumping
