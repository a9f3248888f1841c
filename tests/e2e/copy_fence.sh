#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A copy between iods ends with the session that requested it, although the source iod is stopped. A
# client that waits for a lock of the dead session gets it, and the copy does not overwrite that
# client's data.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

export PVFS_TIMEOUT=200
start_pvfs -n 4 --set mgr.session_timeout=2
mount_at "$tmp/m"
head -c 16000000 /dev/urandom >"$tmp/data"
must cp "$tmp/data" "$tmp/m/a"
must cp "$tmp/data" "$tmp/m/b"
must cp "$tmp/m/a" "$tmp/m/b"
mkfifo "$tmp/go"
python3 -c 'import fcntl, os, sys
a, b = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_WRONLY)
fcntl.lockf(b, fcntl.LOCK_EX)
open(sys.argv[3]).read()
os.copy_file_range(a, b, 16000000)' "$tmp/m/a" "$tmp/m/b" "$tmp/go" 2>"$tmp/said" &
copy=$!
exec 7>"$tmp/go" # it has opened both
stand_still "$(cluster pid 0)"
exec 7>&-
sleep 1
must kill -9 $daemon
wait $copy && fail "a copy from an iod that stands still: done"
umount -l "$tmp/m"
must kill -9 "$(cluster pid 0)" # who does not run need not be told
# the session ends at iods 1 to 3, whose copies wait for iod 0
expect taken timeout 60 lib_locks wait /pvfs/b
must cluster start-iod 0 >/dev/null
expect ok pvio write /pvfs/b 0 1000000 2
expect ok pvio check /pvfs/b 0 1000000 2
grep -hq 'copy of .* bytes from object .*: Stale file handle' "$state"/log/iod?.log ||
	fail "no copy was ended with its session"
