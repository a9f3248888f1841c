#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A server is stopped, and a request to it fails. When the server continues, it does not execute the
# failed request, so it does not overwrite later data of others.
. "$(dirname "$0")/functions.sh"

export PVFS_TIMEOUT=60
start_pvfs -n 1
expect ok pvio write /pvfs/file 0 1000000 1
iod=$(cluster pid 0)

# holder NAME FD COMMAND...: runs the command in the background, until the end of its standard
# input, which is our descriptor FD. Returns when the command waits for that.
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

# late_write LEN: A's write to a stopped iod fails. B's write to the same place waits. When the iod
# continues, B's data is there.
late_write() {
	PVFS_TIMEOUT=1 holder a 5 pvio rewrite /pvfs/file "$1" 1 2
	holder b 6 pvio rewrite /pvfs/file "$1" 1 3
	stand_still "$iod"
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

# An iod that continues does not execute a failed truncation, nor does a restarted manager that has
# recorded it: data that was written later stays.
late_cut() {
	holder b 6 pvio rewrite /pvfs/file 100000 1 3
	expect ok pvio write /pvfs/other 0 100 1
	cluster kill-iod 0 || fail "the iod does not end"
	PVFS_TIMEOUT=2 must_fail pvio truncate /pvfs/file 10
	grep -qx ETIMEDOUT "$tmp/output" || fail "truncate: $(cat "$tmp/output")"
	[ "$1" = iod ] || cluster kill-mgr || fail "the manager does not end"
	[ "$1" = iod ] || cluster start-mgr 6>&- || fail "the manager does not start"
	cluster start-iod 0 6>&- || fail "the iod does not start"
	exec 6>&-
	wait "$pid_b" || fail "B: $(cat "$tmp/b")"
	# after everything that the manager has for that iod
	expect ok pvio truncate /pvfs/other 10
	expect ok pvio check /pvfs/file 0 100000 3
	pvio stat /pvfs/file | grep -q ' 1000000 ' ||
		fail "size: $(pvio stat /pvfs/file)"
}

late_cut iod
late_cut mgr
say "what was written after a truncation that failed stayed"

# The manager is stopped: requests that failed meanwhile are not executed.
holder a 5 env PVFS_TIMEOUT=2 pvio make_later /pvfs/late
stand_still "$(cluster pid mgr)"
exec 5>&-
wait "$pid_a" && fail "a create was answered"
grep -qx ETIMEDOUT "$tmp/a" || fail "create: $(cat "$tmp/a")"
kill -CONT "$(cluster pid mgr)"
expect ok pvio mkdir /pvfs/dir
expect ENOENT pvio stat /pvfs/late
say "a create that failed was not made"
