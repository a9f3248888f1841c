# SPDX-License-Identifier: BSD-2-Clause
# metric.sh - counts of servers, as pvfs-stats shows them. Sourced by fixtures; needs $tmp.

# metric SERVER NAME [LABEL]: prints the sum of the rows of that name in pvfs-stats -i whose label
# begins with LABEL; or the number of requests whose data went the way NAME. SERVER is mgr or the
# number of an iod. Prints nothing if there is no such row.
metric() {
	pvfs-stats -i -j 2>"$tmp/err" | tr '{' '\n' |
		grep "\"server\": *\"${1/#[0-9]/iod &}\"" |
		grep -E "\"(gauge|way)\": *\"$2\"" | grep -e ": *\"${3:-}" |
		sed -nE 's/.*"(value|requests)": *([0-9]+).*/\2/p' |
		awk '{ n += $1 } END { if (NR) printf "%.0f\n", n }'
}
# metric_is WANTED SERVER NAME [LABEL]; metric_above LEAST SERVER NAME [LABEL]
metric_is() { [ "$(metric "${@:2}")" = "$1" ]; }
metric_above() { [ "$(metric "${@:2}")" -gt "$1" ] 2>/dev/null; }
# requests_at_iods: prints the number of requests at the iods, without those for metrics
requests_at_iods() {
	pvfs-stats 2>"$tmp/err" |
		awk '$1 == "iod" && $3 != "METRICS" { n += $4 } END { print n + 0 }'
}
