#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# With sync=on, no acknowledged write is lost when all servers are killed at the same moment,
# together with the client.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 3 --sync on --set mgr.session_timeout=2
for round in 1 2 3; do
	: >"$tmp/acked" # here: the writer is not awaited to do it
	pvio ack /pvfs/log$round 100000 20000 $round >"$tmp/acked" &
	writer=$!
	helpers=("$writer")
	enough() { [ "$(wc -l <"$tmp/acked")" -ge $((40 * round)) ]; }
	until_true 60 enough
	for server in mgr 0 1 2; do
		kill -KILL "$(cluster pid $server)"
	done
	kill -KILL $writer
	wait $writer 2>/dev/null
	helpers=()
	must cluster start
	acked=$(grep -c . "$tmp/acked")
	say "round $round: $acked blocks were acknowledged"
	expect ok pvio check /pvfs/log$round 0 $((acked * 20000)) $round
	size=$(pvio stat /pvfs/log$round | awk 'NR == 1 { print $5 }')
	[ "$size" -ge $((acked * 20000)) ] || fail "size $size is too small"
done
