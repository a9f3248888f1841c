#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Locks among processes. A killed process loses its locks; a restart of the manager loses none.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2 --set mgr.session_timeout=2
expect ok lib_locks /pvfs/f

mkfifo "$tmp/in"
# hold: another process has the lock until the end of its input, which is our descriptor 9
hold() {
	: >"$tmp/out"
	lib_locks hold /pvfs/f <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
	helpers+=($!)
	exec 9>"$tmp/in"
	until_true 30 grep -q held "$tmp/out"
}

hold
must cluster kill-mgr
must cluster start-mgr
expect EAGAIN lib_locks try /pvfs/f
exec 9>&-
must wait "${helpers[0]}"
expect taken lib_locks try /pvfs/f

# a wait for a lock may take longer than the time-out for a server
hold
PVFS_TIMEOUT=2 lib_locks wait /pvfs/f >"$tmp/waited" 2>&1 9>&- &
waiter=$!
helpers+=($waiter)
sleep 4
[ ! -s "$tmp/waited" ] || fail "did not wait: $(cat "$tmp/waited")"
exec 9>&-
must wait $waiter
expect taken cat "$tmp/waited"

# a process that is killed during its wait does not get the lock
hold
lib_locks wait /pvfs/f >"$tmp/waited" 2>&1 9>&- &
waiter=$!
helpers+=($waiter)
sleep 0.5
kill -9 $waiter
wait $waiter 2>/dev/null
sleep 0.5
exec 9>&-
must wait "${helpers[-2]}"
expect taken lib_locks try /pvfs/f
