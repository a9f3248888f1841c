#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that end by _exit(), or execute another program, end their sessions long before
# session_timeout. If a child does so, its parent's session stays, and a failed exec() does not end
# the program's session.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
requires tool perl

have() { [ "$(objects)" = "$1" ]; }
start_pvfs -n 2 --set mgr.session_timeout=3600
mount_at "$tmp/m" -o cache=none
past timeout 200 python3 "$e2e/preload_ended.py" "$tmp/m" || fail "see above"
[ "$(grep -c ':\(python3\|perl\)): opens session' "$(log_of mgr)")" -ge 12 ] ||
	fail "they did not go past the mount"
until_true 30 have 0

mkfifo "$tmp/go_on"
past timeout 200 python3 "$e2e/preload_ended.py" "$tmp/m" replaced \
	<"$tmp/go_on" >"$tmp/said" &
programs=$!
helpers+=($programs)
exec 5>"$tmp/go_on"
until_true 60 grep -q replaced "$tmp/said"
until_true 30 have 0
exec 5>&-
wait $programs || fail "what exec() made of them did not end well"
unmount "$tmp/m" $daemon
