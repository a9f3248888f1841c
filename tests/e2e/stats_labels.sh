#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-stats --users and --jobs: the requests of each user and job.  A job name that is no valid
# label is not sent, and a label has only printable characters.
. "$(dirname "$0")/functions.sh"
requires tool python3

start_pvfs -n 2
export PVFS_DIRECT=off
unset SLURM_JOB_ID PVFS_JOB_ID

# value SERVER JOB KEY: prints the value in the output of pvfs-stats --jobs, or 0
value() {
	pvfs-stats --jobs --json | python3 -c '
import json, sys
print(sum(o[sys.argv[3]] for o in json.load(sys.stdin)
	  if o["server"].startswith(sys.argv[1]) and o["job"] == sys.argv[2]))' "$@"
}

PVFS_JOB_ID=4711 expect ok pvio write /pvfs/f 0 1000000 1
SLURM_JOB_ID='array 5_7' expect ok pvio write /pvfs/g 0 300000 1
PVFS_JOB_ID=first SLURM_JOB_ID=second expect ok pvio check /pvfs/f 0 1000000 1
expect 1000000 value iod 4711 bytes_in
expect 300000 value iod 'array 5_7' bytes_in
[ "$(value iod first bytes_out)" -ge 1000000 ] || fail "$(pvfs-stats --jobs)"
expect 0 value '' second requests
[ "$(value mgr 4711 requests)" -gt 0 ] || fail "$(pvfs-stats --jobs)"

# invalid labels: too long, unprintable, empty; the program still works
before=$(value mgr '' requests)
for job in "$(printf '%065d' 1)" $'a\033[2Jb' $'a\nb' $'\xc3\xa4' ''; do
	PVFS_JOB_ID=$job expect ok pvio write /pvfs/h 0 100 1
done
[ "$(value mgr '' requests)" -gt "$before" ] || fail "$(pvfs-stats --jobs)"
longest=$(printf '%064d' 1)
PVFS_JOB_ID=$longest expect ok pvio write /pvfs/h 0 100 1
[ "$(value mgr "$longest" requests)" -gt 0 ] || fail "$(pvfs-stats --jobs)"

# the counts of a user are the sum of his jobs, and the table equals the JSON
must pvfs-stats --users --json >users.json
must pvfs-stats --jobs --json >jobs.json
python3 - <<'END2' || fail "$(cat users.json jobs.json)"
import collections, json, os
users = json.load(open("users.json"))
jobs = json.load(open("jobs.json"))
mine = collections.Counter()
for row in jobs:
    if row.get("uid") == os.getuid():
        mine[row["server"]] += row["bytes_in"]
for row in users:
    assert "job" not in row
    assert row["uid"] == os.getuid(), row
    assert row["bytes_in"] == mine[row["server"]], row
assert {row["server"] for row in users} == {"mgr", "iod 0", "iod 1"}
END2
must pvfs-stats --jobs >table
grep -Eq '^mgr .* 4711$' table || fail "$(cat table)"
grep -Eq '^server  *user ' table || fail "$(cat table)"

# requests since the start of the command
pvfs-stats -w 1 --jobs -j >meanwhile.json &
watcher=$!
helpers+=("$watcher")
until_true 60 test -s meanwhile.json
PVFS_JOB_ID=late expect ok pvio write /pvfs/k 0 5000 1
late() {
	python3 -c '
import json
print(sum(o["bytes_in"] for line in open("meanwhile.json") if line.endswith("]\n")
	  for o in json.loads(line) if o["job"] == "late"))'
}
until_true 60 bash -c "$(declare -f late); [ \$(late) -ge 5000 ]"
kill "$watcher"
helpers=()
expect 5000 late
