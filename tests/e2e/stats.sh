#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-stats shows the requests that the servers have served: their number, errors separately, the
# bytes, plausible times; the difference since the last output; and the loss by a restart.
. "$(dirname "$0")/functions.sh"
requires tool python3

start_pvfs -n 2
export PVFS_DIRECT=off

# value SERVER OP KEY: prints the value in the output of pvfs-stats, or 0
value() {
	pvfs-stats -j | python3 -c '
import json, sys
print(sum(o[sys.argv[3]] for o in json.load(sys.stdin)
	  if o["server"].startswith(sys.argv[1]) and o["op"] == sys.argv[2]))' "$@"
}

for i in 1 2 3; do expect ok pvio mkdir "/pvfs/d$i"; done
expect EEXIST pvio mkdir /pvfs/d1
expect 4 value mgr MKDIR requests
expect 1 value mgr MKDIR errors

# 1,000,000 bytes: 64 KiB stripes on both
expect ok pvio write /pvfs/f 0 1000000 1
expect 1000000 value iod WRITE bytes_in
expect 0 value iod WRITE errors
sizes="$(value 'iod 0' WRITE bytes_in) $(value 'iod 1' WRITE bytes_in)"
[ "$sizes" = "475712 524288" ] || [ "$sizes" = "524288 475712" ] || fail "$sizes"
expect ok pvio check /pvfs/f 0 1000000 1
[ "$(value iod READ bytes_out)" -ge 1000000 ] || fail "$(pvfs-stats)"

# the times are in order, and none is zero
pvfs-stats -j >all.json || fail "pvfs-stats -j"
python3 - <<'END' || fail "$(cat all.json)"
import json
rows = json.load(open("all.json"))
assert {r["server"] for r in rows} == {"mgr", "iod 0", "iod 1"}
for r in rows:
    assert 0 < r["mean_ns"] <= r["max_ns"], r
    assert r["p50_ns"] <= r["p90_ns"] <= r["p99_ns"] <= r["max_ns"], r
    assert r["errors"] <= r["requests"], r
END

pvfs-stats >table || fail "pvfs-stats"
grep -Eq '^mgr +MKDIR +4 +1 ' table || fail "$(cat table)"
grep -q '^server  *operation' table || fail "$(cat table)"

# -w counts only requests since its start
pvfs-stats -w 1 -j >meanwhile.json &
watcher=$!
helpers+=("$watcher")
until_true 60 test -s meanwhile.json
for i in 4 5; do expect ok pvio mkdir "/pvfs/d$i"; done
made() {
	python3 -c '
import json
print(sum(o["requests"] for line in open("meanwhile.json") if line.endswith("]\n")
	  for o in json.loads(line) if o["op"] == "MKDIR"))'
}
until_true 60 bash -c "$(declare -f made); [ \$(made) -ge 2 ]"
kill "$watcher"
helpers=()
expect 2 made

# a server did not reply before: its requests since then are unknown
stand_still "$(cluster pid 0)"
pvfs-stats -t 500 -w 1 -j >later.json 2>/dev/null &
watcher=$!
helpers+=("$watcher")
until_true 60 test -s later.json
must kill -CONT "$(cluster pid 0)"
until_true 60 grep -q '"iod 0"' later.json
kill "$watcher"
helpers=()
! grep -q '"iod 0"[^}]*"WRITE"' later.json || fail "$(cat later.json)"

# the internal counts: each request once more by its way, queues, zones, the database
pvfs-stats --inside -j >inside.json || fail "pvfs-stats --inside -j"
pvfs-stats -j >all.json || fail "pvfs-stats -j"
python3 - <<'END' || fail "$(cat inside.json)"
import json
rows, ops = json.load(open("inside.json")), json.load(open("all.json"))
times = [r for r in rows if "what" in r]
labels = "size", "queue", "transport", "reason", "cause"
gauges = {(r["server"], r["gauge"], next((r[l] for l in labels if l in r), None)): r["value"]
          for r in rows if "gauge" in r}
assert len(gauges) == len(rows) - len(times), rows
for r in times:
    assert r["p50_ns"] <= r["p90_ns"] <= r["p99_ns"] <= r["max_ns"], r
    assert r["transport"] in ("tcp", "local", "verbs", "") and r["errors"] <= r["requests"], r
ways = {"inline", "fast", "bulk", "mapped"}
for what, op in ("read", "READ"), ("write", "WRITE"):
    mine = [r for r in times if r["what"] == what]
    assert mine and {r["way"] for r in mine} <= ways, mine
    # the counts match the operations
    counted = sum(r["requests"] for r in mine)
    assert counted == sum(o["requests"] for o in ops if o["op"] in (op, op + "_LIST")), (mine, ops)
assert sum(r["bytes"] for r in times if r["what"] == "write") == 1000000, times
assert any(r["what"] == "log" and r["server"] == "mgr" for r in times), times
assert any(r["what"] == "other" and r["server"] == "mgr" for r in times), times
assert gauges["mgr", "db_commits", None] >= 6, gauges
assert gauges["mgr", "db_hits", None] > 0, gauges
assert gauges["mgr", "requests_running", None] == 0, gauges
for iod in "iod 0", "iod 1":
    zones = {of for s, g, of in gauges if s == iod and g == "zone_buffers"}
    assert len(zones) > 1, gauges
    assert all(gauges[iod, "zone_used", z] <= gauges[iod, "zone_most", z] <= gauges[iod, "zone_buffers", z]
               for z in zones), gauges
    assert gauges[iod, "queue_waiting", "flush"] == 0, gauges
    assert gauges[iod, "registered_bytes", "tcp"] > 0, gauges
END
pvfs-stats --inside >table || fail "pvfs-stats --inside"
grep -Eq '^mgr +other +tcp ' table && grep -Eq '^iod 1 +write +tcp +(inline|bulk|mapped) ' table &&
	grep -Eq '^iod 0 +zone [0-9]+KiB +buffers [0-9]+' table && grep -Eq '^mgr +db +cache_bytes ' table ||
	fail "$(cat table)"
must pvfs-stats --inside -w 1 -c 1 >table
! grep -Eq '^iod [01] +write ' table || fail "it counts what was before: $(cat table)"

# one server by its address; a server that does not run
must pvfs-stats "127.0.0.1:$(port_of mgr)" >table
grep -Eq '^server +MKDIR +6 ' table || fail "$(cat table)"
must cluster stop-iod 1
must_fail pvfs-stats
grep -q '^mgr ' "$tmp/output" || fail "$(cat "$tmp/output")"
must cluster start-iod 1
expect 0 value 'iod 1' WRITE requests
