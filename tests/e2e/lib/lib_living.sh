#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A client that makes no call for longer than session_timeout keeps its session, its locks and an
# unlinked file over restarts of all servers. A client that is stopped for as long does not.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2 --set mgr.session_timeout=3 --set mgr.dead_peer=2 \
	--set iod.dead_peer=2
expect ok pvio mkdir /pvfs/living
expect ok pvio mkdir /pvfs/witness

# hold NAME FD: starts a holder; its pid is $!, and its output is in $tmp/NAME
hold() {
	mkfifo "$tmp/$1.in"
	lib_living hold "/pvfs/$1" <"$tmp/$1.in" >"$tmp/$1" 2>"$tmp/$1.err" &
	helpers+=($!)
	eval "exec $2>\"\$tmp/$1.in\""
	until_true 30 grep -q ready "$tmp/$1"
}
# The witness has run for as long, but is stopped: its session ends.
hold witness 8
witness=$!
hold living 9
living=$!
stand_still $witness

for server in mgr "iod 0" "iod 1"; do
	set -- $server
	must cluster "kill-$1" ${2:+$2}
	must cluster "start-$1" ${2:+$2}
done
must cluster kill-mgr
must cluster start-mgr
until_true 60 grep -q "did not come back" "$(log_of mgr)"
expect held lib_living try /pvfs/living
until_true 60 eval '[ "$(lib_living try /pvfs/witness)" = free ]'
[ "$(grep -c "did not come back" "$(log_of mgr)")" = 1 ] ||
	fail "the living one's session ended, too"
echo >&9
wait $living || { cat "$tmp/living" "$tmp/living.err"; fail "it lost something"; }
[ "$(tail -n 1 "$tmp/living")" = ok ] || fail "not to its end"
