#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# If the session of an append that bypasses the mount ends before it writes, the append gets another
# place: its first place now belongs to another append.
. "$(dirname "$0")/../functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
. "$e2e/late_append.sh"

late() {
	PVFS_LOG=warn exec python3 -c '
import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
assert os.write(fd, b"late 0".ljust(99) + b"\n") == 100
' "$tmp/m/log"
}
start_pvfs -n 3 --set mgr.session_timeout=2
PVFS_TIMEOUT=300 mount_at "$tmp/m" -o cache=none
kin=$daemon
late_append past late
umount "$tmp/m"
