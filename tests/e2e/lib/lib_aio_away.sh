#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Asynchronous requests while servers are stopped, and after the end of their session: all complete,
# and failed requests are not executed later.
. "$(dirname "$0")/../functions.sh"
# this test does not cover access without requests
export PVFS_DIRECT=off
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

export PVFS_TIMEOUT=3
start_pvfs -n 3 --set mgr.session_timeout=8
mgr=$(cluster pid mgr)
iods=$(for k in 0 1 2; do cluster pid $k; done)
# shellcheck disable=SC2086 # a list
PVFS_LOG=none must lib_aio_away /pvfs still $mgr $iods
unset PVFS_TIMEOUT

mkfifo "$tmp/in"
lib_aio_away /pvfs lost <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
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
