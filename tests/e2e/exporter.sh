#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-exporter reports the counts of the servers, in a format that Prometheus accepts. It marks
# servers that are unavailable, stopped or not started yet, and does not wait for them. Concurrent
# scrapes cause one request to each server. Text from users is escaped.
. "$(dirname "$0")/functions.sh"
. "$e2e/exporting.sh"

start_pvfs -n 3
export PVFS_DIRECT=off
# The time-out is longer than any wait for a processor here.
start_exporter --timeout 30000 --users 2

# ---- figures ----
expect ok pvio write /pvfs/f 0 1000000 1
for i in 1 2 3 4 5; do PVFS_JOB_ID='a"b\c' expect ok pvio check /pvfs/f 0 1000000 1; done
PVFS_JOB_ID=third expect ok pvio check /pvfs/f 0 1000000 1
PVFS_JOB_ID=fourth expect ok pvio check /pvfs/f 0 1000000 1
expect ok pvio mkdir /pvfs/d
expect EEXIST pvio mkdir /pvfs/d
# Retries for another second, because the exporter caches replies for one second.
figures() { [ "$(value "$1")" = "$2" ]; }
until_true 60 figures 'pvfs_request_duration_seconds_count{server="mgr",op="MKDIR"}' 2
expect 1 value 'pvfs_request_errors_total{server="mgr",op="MKDIR"}'
fetch /metrics >metrics
[ "$(awk '/^pvfs_received_bytes_total.*op="WRITE"/ { n += $NF } END { print n + 0 }' metrics)" = 1000000 ] ||
	fail "written: $(grep WRITE metrics)"
expect 4 value 'pvfs_up{'
grep -q '^pvfs_server_info{server="iod2",address="tcp://127.0.0.1:[0-9]*",version="[0-9.]*",transport="tcp"} 1$' metrics ||
	fail "$(grep info metrics)"
[ "$(grep -c '^pvfs_user_requests_total{server="mgr"' metrics)" = 3 ] && # two, and the others
	grep -q '^pvfs_user_requests_total{server="mgr",uid="others",job_id=""} ' metrics ||
	fail "$(grep pvfs_user metrics)"
grep -q '^pvfs_user_sent_bytes_total{server="iod0",uid="[0-9]*",job_id="a\\"b\\\\c"} ' metrics ||
	fail "$(grep pvfs_user metrics)"
grep -q '^pvfs_mount_info{mount="/pvfs"} 1$' metrics || fail "$(head metrics)"

[ "$(awk '/^pvfs_way_bytes_total.*op="write"/ { n += $NF } END { print n + 0 }' metrics)" = 1000000 ] &&
	grep -q '^pvfs_way_duration_seconds_count{server="mgr",op="other",transport="tcp",way="none"} ' metrics &&
	grep -q '^pvfs_flush_duration_seconds_count{server="mgr",of="log"} ' metrics &&
	grep -q '^pvfs_zone_used{server="iod2",size="64KiB"} ' metrics &&
	grep -q '^pvfs_db_hits_total{server="mgr"} [1-9]' metrics || fail "inside: $(grep -v _bucket metrics)"

cat >well.py <<'END'
"""The rules of Prometheus' text format, and our promises."""
import collections, re, sys
text = sys.stdin.read()
assert text.endswith("\n") and len(text) < 1 << 20, len(text)
kinds, helps, seen, buckets = {}, set(), set(), collections.defaultdict(list)
plain = {}
line_form = re.compile(r'([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? (\S+)$')
for line in text.splitlines():
    if line.startswith("# HELP "):
        helps.add(line.split()[2])
        continue
    if line.startswith("# TYPE "):
        _, _, name, kind = line.split()
        assert name not in kinds and name in helps, line
        kinds[name] = kind
        continue
    name, labels, number = line_form.match(line).groups()
    float(number)
    assert (name, labels) not in seen, line
    seen.add((name, labels))
    assert not re.search('(session|file)[a-z_]*="', labels or ""), line
    base = re.sub("_(bucket|sum|count)$", "", name)
    kind = kinds.get(name) or kinds[base]
    assert (kind == "counter") == name.endswith("_total"), line
    if name.endswith("_bucket"):
        rest, border = re.fullmatch(r'(.*),le="(.*)"', labels).groups()
        buckets[base, rest].append((float(border), int(number)))
    plain[name, labels] = float(number)
for (base, rest), list_ in buckets.items():
    assert len(list_) <= 12 and list_ == sorted(list_), (rest, list_)
    assert [n for _, n in list_] == sorted(n for _, n in list_), (rest, list_)
    assert list_[-1][0] == float("inf"), rest
    assert plain[base + "_count", rest] == list_[-1][1], rest
    assert (base + "_sum", rest) in plain, rest
END
must python3 well.py <metrics
if command -v promtool >/dev/null; then
	promtool check metrics <metrics >lint 2>&1 || fail "promtool: $(cat lint)"
	[ ! -s lint ] || fail "promtool: $(cat lint)"
	must promtool check rules "$top/conf/prometheus-rules.yml" >lint
else
	say "without promtool"
fi

# The metrics of the rules and of the dashboard exist. managers_status checks those of a group of
# managers.
must python3 - "$top/conf/prometheus-rules.yml" "$top/conf/grafana-dashboard.json" <<'END'
import json, re, sys
there = open("metrics").read()
for path in sys.argv[1:]:
    text = open(path).read()
    if path.endswith(".json"):
        panels = json.loads(text)["panels"]
        assert len({p["id"] for p in panels}) == len(panels)
        text = "\n".join(t["expr"] for p in panels for t in p["targets"])
    names = set(re.findall(r"\bpvfs_\w+", text))
    assert len(names) > 5, names
    for name in names:
        if name.startswith("pvfs_managers_"):
            continue
        assert re.search(rf"^{name}[{{ ]", there, re.M), (path, name)
END

# ---- the page and the others ----
expect '{"status":"ok","reasons":[]}' fetch /health
fetch / >page
expect 200 cat "$tmp/code"
! grep -qE '(src|href)=|@import|url\(|https?://[^w]' page || fail "the page loads: $(grep -E 'src=|href=' page)"
fetch /status >status
must python3 - <<'END'
import json
s = json.load(open("status"))
assert [o["server"] for o in s["servers"]] == ["mgr", "iod0", "iod1", "iod2"], s
assert len(s["borders"]) == 11
for server in s["servers"]:
    assert server["up"] and server["available"] <= server["size"]
    for op in server["ops"]:
        assert len(op["times"]) == 12 and op["errors"] <= op["requests"], op
END
fetch /no-such-page >/dev/null
expect 404 cat "$tmp/code"
fetch '/status?after=99999999999999999999' >/dev/null
expect 200 cat "$tmp/code"

# ---- loopback alone, unless told otherwise ----
if command -v ss >/dev/null; then
	ss -Hltnp | grep -F "pid=$exporter_pid," >sockets
	[ "$(wc -l <sockets)" = 1 ] && grep -q " 127.0.0.1:${url##*:} " sockets || fail "$(cat sockets)"
fi
must_fail timeout 60 "$exporter" --listen localhost
grep -q 'want ADDR:PORT' "$tmp/output" || fail "$(cat "$tmp/output")"
must_fail timeout 60 "$exporter" --listen "${url#http://}"
grep -q 'in use; end what has the port' "$tmp/output" || fail "$(cat "$tmp/output")"
must_fail timeout 60 "$exporter" /tmp

# ---- many scrapes cost one request a second ----
rounds=$(value pvfs_exporter_rounds_total)
since=$SECONDS
must python3 - "$url/metrics" <<'END'
import sys, threading, urllib.request
answers = []


def ask():
    for _ in range(50):
        answers.append(b"pvfs_up" in urllib.request.urlopen(sys.argv[1], timeout=60).read())


threads = [threading.Thread(target=ask) for _ in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert answers == [True] * 400, len(answers)
END
asked=$(($(value pvfs_exporter_rounds_total) - rounds))
[ "$asked" -le $((SECONDS - since + 2)) ] || fail "$asked rounds within $((SECONDS - since)) s"

# ---- many pages, each of which waits for the next round ----
must python3 - "$url/status?after=" <<'END'
import json, sys, threading, urllib.request
seen = []


def page():
    after = 0
    for _ in range(3):
        after = json.load(urllib.request.urlopen(sys.argv[1] + str(after), timeout=60))["rounds"]
        seen.append(after)


pages = [threading.Thread(target=page) for _ in range(100)]
for p in pages:
    p.start()
for p in pages:
    p.join()
assert len(seen) == 300, len(seen)
END

# ---- servers that are down, and that stand still ----
reason() {
	fetch /health >health
	[ "$(cat "$tmp/code")" = 503 ] && grep -qE "\"server\":\"$1\",\"reason\":\"[^\"]*$2" health
}
stop_exporter
start_exporter
must cluster stop-iod 1
until_true 60 reason iod1 'refused'
expect 0 value 'pvfs_up{server="iod1"'
still=$(cluster pid 2) || fail "no pid of iod 2"
stand_still "$still"
until_true 60 reason iod2 'does not answer within'
until_true 60 figures 'pvfs_up{' 2
until_true 60 eval 'fetch /metrics >metrics; grep -q "pvfs_sessions{server=.iod0" metrics'
must python3 well.py <metrics
! grep -q 'pvfs_sessions{server="iod[12]"}' metrics || fail "old figures: $(cat metrics)"
# The second scrape does not wait for the stopped server; the bound is the time-out of a request.
until_true 60 eval 'fetch /metrics >metrics; awk "/^pvfs_exporter_round_seconds/ { exit !(\$2 < 0.9) }" metrics'
grep -q 'iod2.*does not answer' "$exporter_log" || fail "it does not say so"

# The exporter exits although a server is stopped.
stop_exporter
must kill -CONT "$still"
must cluster stop

# ---- begun before the servers, and ended without them ----
start_exporter --timeout 500
until_true 60 reason mgr refused
reason iods . || fail "$(cat health)"
expect 0 value 'pvfs_up{'
must cluster start >/dev/null
until_true 60 figures 'pvfs_up{' 4
stop_exporter

# ---- text from users ----
sed 's|/pvfs |/pv"<i>\&x |' "$state/pvfstab" >evil
PVFSTAB_FILE=$PWD/evil start_exporter --timeout 30000
expect 4 value 'pvfs_up{'
fetch /metrics >metrics
grep -qxF 'pvfs_mount_info{mount="/pv\"<i>&x"} 1' metrics || fail "$(head -n 4 metrics)"
must python3 well.py <metrics
expect '/pv"<i>&x' python3 -c 'import json, sys; print(json.loads(sys.argv[1])["mount"])' "$(fetch /status)"
stop_exporter

# ---- a disk without a limit is not a full one ----
if [ "$(id -u)" = 0 ]; then
	must cluster stop
	cp -a "$state/iod2" store
	mount -t tmpfs -o size=0,nr_inodes=0,mode=700 pvfs-e2e "$state/iod2" 2>err || skip "no tmpfs: $(cat err)"
	mounts+=("$state/iod2")
	cp -a store/. "$state/iod2"
	must cluster start >/dev/null
	start_exporter --timeout 30000
	until_true 60 figures 'pvfs_up{' 4
	fetch /metrics >metrics
	for what in space_size_bytes space_free_bytes space_available_bytes files files_free; do
		grep -qxF "pvfs_$what{server=\"iod2\"} +Inf" metrics || fail "$what: $(grep "$what" metrics)"
	done
	fetch /status | python3 -c '
import json, sys
iod = json.load(sys.stdin)["servers"][3]
assert [iod[k] for k in ("size", "free", "available")] == [None] * 3, iod' || fail "the status has a limit"
	stop_exporter
fi

# ---- a service manager hears that it is ready ----
"$e2e/notified.py" listen "$tmp/notify" >heard 2>&1 &
listener=$!
until_true 60 grep -q listens heard
NOTIFY_SOCKET=$tmp/notify start_exporter
until_true 60 grep -q "^$exporter_pid READY=1" heard
stop_exporter
until_true 60 grep -q "^$exporter_pid STOPPING=1" heard
kill "$listener"
exit 0
