#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An iod that cannot start because the host lacks threads logs the cause and the remedy.
. "$(dirname "$0")/functions.sh"
requires root
requires tool prlimit
requires tool setpriv

# the check for leaks needs a thread
leak_check=detect_leaks=0
as() { setpriv --reuid nobody --regid nogroup --clear-groups -- "$@"; }
start_pvfs -n 1
port=$(port_of iod.0)
must cluster stop
chmod 755 "$tmp"
mkdir few && chown nobody:nogroup few
cat >conf <<END
[filesystem]
id = 5f1e0c3a9b7d2468
[mgr]
address = tcp://127.0.0.1:1
storage = $tmp/few/mgr
[iod.0]
address = tcp://127.0.0.1:$port
storage = $tmp/few
END
as test -x "$PVFS_BUILD/server/pvfs-iod" || skip "another user cannot reach $PVFS_BUILD"
# the limit of processes of this user does not allow the first thread
must_fail as prlimit --nproc=1 "$PVFS_BUILD/server/pvfs-iod" --config conf --index 0
grep -q 'error: iod 0 cannot start: Resource temporarily unavailable; .*TasksMax' output ||
	fail "$(cat output)"
