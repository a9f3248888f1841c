#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A real Prometheus scrapes pvfs-exporter, computes the alert rules, and fires one for a server that
# is unavailable.
. "$(dirname "$0")/functions.sh"
. "$e2e/exporting.sh"
requires tool prometheus
requires tool promtool

start_pvfs -n 2
start_exporter --timeout 30000
# Changes minutes to seconds in the rules, so that the test is short.
sed 's/for: .*/for: 1s/' "$top/conf/prometheus-rules.yml" >rules.yml
cat >prometheus.yml <<END
global:
  scrape_interval: 2s
  evaluation_interval: 1s
rule_files: [rules.yml]
scrape_configs:
  - job_name: pvfs
    static_configs:
      - targets: ["${url#http://}"]
END
must promtool check config prometheus.yml >checked

# Prometheus cannot choose a port itself. If another program takes the port first, tries again.
begin_prometheus() {
	port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	prometheus --config.file=prometheus.yml --storage.tsdb.path="$tmp/tsdb" \
		--web.listen-address="127.0.0.1:$port" >prometheus.log 2>&1 &
	prometheus=$!
	helpers+=("$prometheus")
	for _ in {1..600}; do
		grep -q 'Server is ready' prometheus.log && return 0
		kill -0 "$prometheus" 2>/dev/null || return 1
		sleep 0.1
	done
	return 1
}
begin_prometheus || begin_prometheus || begin_prometheus || fail "$(tail prometheus.log)"

# asked QUERY: prints the numbers of the result, one a line
asked() {
	python3 - "$port" "$1" <<'END'
import json, sys, urllib.parse, urllib.request
query = urllib.parse.urlencode({"query": sys.argv[2]})
answer = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/api/v1/query?{query}", timeout=60)
for one in json.load(answer)["data"]["result"]:
    print(one["value"][1])
END
}
says() { [ "$(asked "$1")" = "$2" ]; }
# Rules are evaluated once a second, and a query takes a tenth of a second.
said() { says "$@" || { sleep 1; false; }; }
until_true 120 said 'up{job="pvfs"}' 1
until_true 120 said 'sum(pvfs_up)' 3
export PVFS_DIRECT=off
expect ok pvio write /pvfs/f 0 1000000 1
until_true 120 said 'sum(pvfs_received_bytes_total{op="WRITE"})' 1000000
until_true 120 said 'scrape_samples_post_metric_relabeling{job="pvfs"} > bool 100' 1
until_true 120 said 'histogram_quantile(0.99, sum by (le) (rate(pvfs_request_duration_seconds_bucket[1m]))) > bool 0' 1

must cluster stop-iod 1
until_true 120 said 'ALERTS{alertname="PvfsServerAway",alertstate="firing",server="iod1"}' 1
says 'ALERTS{alertname="PvfsServerAway",server!="iod1"}' '' || fail "others are said to be away"
! grep -E 'level=(warn|error)' prometheus.log || fail "prometheus complains"
must kill "$prometheus"
wait "$prometheus"
stop_exporter
exit 0
