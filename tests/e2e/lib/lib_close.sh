#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program closes a removed file while a server is unavailable, and makes no further call. The file
# is gone when the server is back. Cases: the close follows a write to an iod that timed out, or the
# manager is down.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

export PVFS_TIMEOUT=2
start_pvfs -n 2
mkfifo "$tmp/in"
lib_close /pvfs/file <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
client=$!
helpers+=($client)
exec 9>"$tmp/in"
until_true 30 grep -qx made "$tmp/out"
# Checks that this number of objects is left.
left() { [ "$(objects)" = "$1" ]; }
both=$(objects)
[ "$both" -gt 2 ] || fail "nothing was written: $both objects"

iod=$(cluster pid 1)
stand_still "$iod"
echo >&9
until_true 60 grep -qx 'closed one' "$tmp/out"
kill -CONT "$iod"
until_true 60 left $((both / 2))

must cluster kill-mgr
echo >&9
until_true 60 grep -qx 'closed both' "$tmp/out"
until_true 60 grep -q 'no answer to RELEASE' "$tmp/err"
must cluster start-mgr
until_true 60 left 0

echo >&9
wait $client || { cat "$tmp/out" "$tmp/err"; fail "the client failed"; }
grep -qx ok "$tmp/out" || fail "not to its end"
