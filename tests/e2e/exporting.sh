# SPDX-License-Identifier: BSD-2-Clause
# exporting.sh - pvfs-exporter in a test; sourced after functions.sh (bash).

exporter=$PVFS_BUILD/client/tools/pvfs-exporter
[ -x "$exporter" ] || skip "built without libmicrohttpd"
requires tool python3

# start_exporter [OPTION...]: starts it on a free port; sets $url and $exporter_pid
start_exporter() {
	exporter_log=$state/log/exporter.log
	: >"$exporter_log"
	"$exporter" --listen 127.0.0.1:0 "$@" >>"$exporter_log" 2>&1 &
	exporter_pid=$!
	helpers+=("$exporter_pid")
	until_true 60 grep -q 'ready: http' "$exporter_log"
	url=$(sed -n 's|.*ready: \(http.*\)/$|\1|p' "$exporter_log")
}

# The exporter exits by itself, with status 0.
stop_exporter() {
	must kill "$exporter_pid"
	wait "$exporter_pid" || fail "the exporter ended with $?: $(cat "$exporter_log")"
	helpers=()
}

# fetch PATH: prints the body; the HTTP status is in $tmp/code
fetch() {
	python3 -c '
import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(sys.argv[1], timeout=60)
except urllib.error.HTTPError as e:
    answer = e
open(sys.argv[2], "w").write(str(answer.getcode()))
sys.stdout.write(answer.read().decode())' "$url$1" "$tmp/code"
}

# value NAME-WITH-LABELS: prints the sum of the lines of /metrics that begin so
value() {
	fetch /metrics | awk -v name="$1" '
		index($0, name) == 1 { sum += $NF } END { printf "%.0f\n", sum }'
}
