#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A session ends while a change is in flight. The change is not executed twice, and the caller gets
# an error that says that its result is unknown. Lookups and idle clients continue.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH
requires tool python3
requires tcp

start_pvfs -n 2 --set mgr.session_timeout=1
coproc proxy { exec python3 "$e2e/lib/proxy.py" 127.0.0.1 "$(port_of mgr)"; }
helpers+=($proxy_PID)
read -r port <&"${proxy[0]}"
sed "s/port=[0-9]*/port=$port/" "$PVFSTAB_FILE" >"$tmp/pvfstab"
proxy() { echo "$1" >&"${proxy[1]}"; read -r _ <&"${proxy[0]}"; }

mkfifo "$tmp/in"
PVFSTAB_FILE=$tmp/pvfstab PVFS_LOG=warn \
	lib_once /pvfs <"$tmp/in" >"$tmp/out" 2>"$tmp/err" &
client=$!
helpers+=($client)
exec 9>"$tmp/in"

steps() { [ "$(grep -c step "$tmp/out")" -ge "$1" ]; }
ended() {
	[ "$(grep -c "without a connection" "$(log_of mgr)")" -ge "$1" ]
}
# lose N: ends the session behind the proxy for the Nth time
lose() {
	proxy cut
	until_true 30 ended "$1"
	proxy pass
}

until_true 30 steps 1
proxy mute
echo >&9
until_true 30 pvfs-stat /pvfs/made >/dev/null 2>&1
lose 1
until_true 30 steps 2
proxy mute
echo >&9
size_is_1() { pvfs-stat --json /pvfs/file | grep -q '"size": *1,'; }
until_true 30 size_is_1
lose 2
until_true 30 steps 3
proxy mute
echo >&9
sleep 0.3
lose 3
until_true 30 steps 4
sleep 6
lose 4
echo >&9
wait $client || { cat "$tmp/out" "$tmp/err"; fail "the client failed"; }
[ "$(tail -n 1 "$tmp/out")" = ok ] || fail "not to its end"
grep -q "the session ended during a change" "$tmp/err" || fail "no word of it"
