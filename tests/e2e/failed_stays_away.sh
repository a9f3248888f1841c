#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What its caller was told had failed is not done later by a server that stood still
# meanwhile: not over what others wrote since.
. "$(dirname "$0")/functions.sh"

export PVFS_TIMEOUT=60
start_pvfs -n 1
expect ok pvio write /pvfs/file 0 1000000 1
iod=$(cluster pid 0)

# holder NAME FD COMMAND...: in the background, until its standard input, which is
# FD of ours, ends; it has got as far as that.
holder() {
	local who=$1 fd=$2
	shift 2

	mkfifo "$tmp/in.$who"
	"$@" <"$tmp/in.$who" >"$tmp/$who" 2>&1 5>&- 6>&- &
	eval "pid_$who=\$!"
	eval "exec $fd>\"$tmp/in.$who\""
	rm "$tmp/in.$who"
	until_true 60 grep -q holding "$tmp/$who"
}

# late_write LEN: A's write is sent to an iod that stands still, and fails; B's
# waits behind it.  When the iod goes on, B's is what is there.
late_write() {
	PVFS_TIMEOUT=1 holder a 5 pvio rewrite /pvfs/file "$1" 1 2
	holder b 6 pvio rewrite /pvfs/file "$1" 1 3
	kill -STOP "$iod"
	exec 5>&-
	wait "$pid_a" && fail "A's write was answered"
	grep -qx ETIMEDOUT "$tmp/a" || fail "A: $(cat "$tmp/a")"
	exec 6>&-
	sleep 0.1 # B's may be there first: then there is less to see
	kill -CONT "$iod"
	wait "$pid_b" || fail "B: $(cat "$tmp/b")"
	expect ok pvio check /pvfs/file 0 "$1" 3
}

rounds=0
for len in 100 4096 4096 4096 4096 60000 60000 300000 300000 1000000 1000000; do
	late_write $len
	rounds=$((rounds + 1))
done
say "the last writer's bytes stayed in $rounds rounds"
