#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Malformed, truncated, oversized, replayed and version-mismatched input costs only its own
# connection: the log names the reason, and the service goes on.
. "$(dirname "$0")/functions.sh"

requires tool python3
requires tcp
start_pvfs -n 2
fsid=$(conf_value filesystem id)
expect ok pvio write /pvfs/file 0 1000000 1

# a healthy client that stays connected all the time
mkfifo "$tmp/fifo"
pvio hold /pvfs/held <"$tmp/fifo" >"$tmp/holder" &
helpers+=($!)
exec 5>"$tmp/fifo"
held() { grep -q holding "$tmp/holder"; }
until_true 30 held

open_files() { find "/proc/$1/fd" -type l | wc -l; }

for who in mgr iod.0; do
	server=${who#iod.} log=$(log_of "${who/./}")
	pid=$(cluster pid "$server")
	fds=$(open_files "$pid")
	python3 "$e2e/badclient.py" 127.0.0.1 "$(port_of "$who")" "$fsid" \
		"$log" >"$tmp/cases" 2>&1 || {
		grep -E '<--|Error|replay' "$tmp/cases"
		fail "$who: see above"
	}
	say "$who: $(wc -l <"$tmp/cases") kinds of bad input refused"
	[ "$(cluster pid "$server")" = "$pid" ] || fail "$who did not survive"
	# the descriptors of the bad clients are closed
	given_back() { [ "$(open_files "$pid")" -le $((fds + 2)) ]; }
	until_true 30 given_back
	expect ok pvio check /pvfs/file 0 1000000 1
	expect ok pvio write /pvfs/other 0 100000 2
done

# many concurrent connections that end in the middle of a message
port=$(port_of mgr)
for i in $(seq 200); do
	head -c $((i * 7 % 300)) /dev/urandom 2>/dev/null >"/dev/tcp/127.0.0.1/$port"
done 2>/dev/null
expect ok pvio check /pvfs/other 0 100000 2

# the healthy client was not affected
exec 5>&-
wait "${helpers[0]}" || fail "the healthy client: $(cat "$tmp/holder")"
helpers=()
expect 2 bash -c "pvio stat /pvfs/held | awk 'NR == 1 { print \$5 }'"
