#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients on a server's host read and write without requests. The servers count these calls exactly,
# under their user and job. All tools show them, while the clients run and afterwards.
. "$(dirname "$0")/../functions.sh"
requires tool python3
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2
unset SLURM_JOB_ID PVFS_JOB_ID

# value OPTION KEY FIELD=IS...: prints the sum of KEY in the output of pvfs-stats, over rows where
# all FIELDs match
value() {
	pvfs-stats "$1" --json | python3 -c '
import json, sys
want = dict(a.split("=") for a in sys.argv[2:])
print(sum(o[sys.argv[1]] for o in json.load(sys.stdin)
	  if all(str(o.get(k)) == v for k, v in want.items())))' "${@:2}"
}
is() { [ "$(value "${@:2}")" = "$1" ]; }

# per operation, without an option, the counts of all users
ops() { pvfs-stats --json; }
op() { ops | python3 -c '
import json, sys
print(sum(o[sys.argv[2]] for o in json.load(sys.stdin) if o["op"] == sys.argv[1]))' "$@"; }
op_is() { [ "$(op "$2" "$3")" = "$1" ]; }

# run JOB CALLS THREADS: writes "READS WRITES" to the file counts, and runs until let_go
run() {
	rm -f counts
	mkfifo "$tmp/stay"
	PVFS_JOB_ID=$1 lib_told "/pvfs/$1" "$2" "$3" <"$tmp/stay" >counts &
	program=$!
	helpers+=("$program")
	exec 7>"$tmp/stay"
	until_true 120 test -s counts
	read -r reads writes <counts
}
let_go() {
	exec 7>&-
	wait "$program" || fail "lib_told: $?"
	helpers=()
	rm "$tmp/stay"
}

told() {
	until_true 60 is "$((reads + writes))" --jobs requests "job=$1" direct=True ||
		fail "$reads $writes: $(pvfs-stats --jobs)"
	expect "$((reads * 4096))" value --jobs bytes_out "job=$1" direct=True
	expect "$((writes * 4096))" value --jobs bytes_in "job=$1" direct=True
}

run one 1000 1
[ "$reads" -gt 900 ] || fail "$reads reads went without a request"
told one
one_reads=$reads one_writes=$writes
until_true 60 op_is "$reads" DIRECT_READ requests || fail "$(pvfs-stats)"
expect "$((reads * 4096))" op DIRECT_READ bytes_out
[ "$(op DIRECT_READ mean_ns)" -gt 0 ] || fail "$(ops)"
[ "$(op DIRECT_READ p99_ns)" -gt 0 ] || fail "$(ops)"
[ "$(value --inside p50_ns way=direct what=read)" -gt 0 ] || fail "$(pvfs-stats --inside)"
# requests are counted separately
[ "$(value --jobs requests job=one direct=False)" -gt 0 ] || fail "$(pvfs-stats --jobs)"
pvfs-stats --jobs >table
grep -Eq '^iod [01] +[^ ]+\* .* one$' table || fail "$(<table)"
let_go
told one

# ... and so do the times of the exporter, if it is built
if [ -x "$PVFS_BUILD/client/tools/pvfs-exporter" ]; then (
	. "$e2e/exporting.sh"
	start_exporter --timeout 30000
	fetch /metrics >metrics
	direct='pvfs_way_duration_seconds_count{.*op="read".*way="direct"} '
	[ "$(awk -v d="$direct" '$0 ~ d { n += $NF } END { print n + 0 }' metrics)" = "$reads" ] ||
		fail "$reads: $(grep direct metrics)"
	stop_exporter
) || exit; fi

# counts of threads are not lost
run many 500 8
told many
let_go
told many
expect "$((reads + one_reads))" op DIRECT_READ requests
expect "$((writes + one_writes))" op DIRECT_WRITE requests

# a client without loans has no such counts
PVFS_DIRECT=off run off 100 1
expect '0 0' cat counts
let_go
expect 0 value --jobs requests job=off direct=True

# ... and pvfs-top while the client runs
busy() {
	while [ ! -e "$tmp/enough" ]; do
		PVFS_JOB_ID=busy lib_told /pvfs/busy 2000 </dev/null >/dev/null || return
	done
}
busy &
worker=$!
helpers+=("$worker")
shows() {
	pvfs-top --batch -d 1 -n 2 >pages || fail "pvfs-top: $?"
	grep -Eq '^[^ ]+\* .* busy$' pages
}
until_true 60 shows || fail "$(<pages)"
touch "$tmp/enough"
wait "$worker" || fail "busy: $?"
helpers=()
