#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A stopped client loses its session while the manager restarts. It detects this, opens a new
# session and continues with its open files.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3 --set mgr.session_timeout=2
mkfifo "$tmp/in"
lib_stale /pvfs <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
client=$!
helpers+=($client)
exec 9>"$tmp/in"
until_true 30 grep -q ready "$tmp/out"
stand_still $client
must cluster stop-mgr
must cluster start-mgr
until_true 60 grep -q "did not come back" "$(log_of mgr)"
for k in 0 1 2; do # until then an iod serves the session that ended
	until_true 60 grep -q "has ended, says the manager" "$(log_of iod$k)"
done
kill -CONT $client
echo >&9
wait $client || { cat "$tmp/out" "$tmp/err"; fail "the client failed"; }
[ "$(tail -n 1 "$tmp/out")" = ok ] || fail "not to its end"
