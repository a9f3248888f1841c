#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Locks among processes; a killed one loses its own, a restarted manager none.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2 --set mgr.session_timeout=2
expect ok lib_locks /pvfs/f

mkfifo "$tmp/in"
lib_locks hold /pvfs/f <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
helpers+=($!)
exec 9>"$tmp/in"
until_true 30 grep -q held "$tmp/out"
must cluster kill-mgr
must cluster start-mgr
expect EAGAIN lib_locks try /pvfs/f
exec 9>&-
must wait "${helpers[0]}"
expect taken lib_locks try /pvfs/f
