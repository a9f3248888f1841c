#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/report writes a page with every experiment that runs here, and names those that it cannot
# run. The figures are not checked.
. "$(dirname "$0")/functions.sh"

requires tool gnuplot
requires tool python3
"$top/scripts/report" --quick -o "$tmp/report" >"$tmp/log" 2>&1 || {
	tail -n 30 "$tmp/log"
	fail "scripts/report: exit status $?"
}
page=$tmp/report/index.html
[ -s "$page" ] || { tail -n 30 "$tmp/log"; fail "no page"; }

names=$(pvfs-perf list-experiments | sed -n 's/^\([a-z]\+\) .*/\1/p')
[ -n "$names" ] || fail "pvfs-perf names no experiments"
for e in $names; do
	grep -q "<h2 id=\"$e\">" "$page" || {
		tail -n 30 "$tmp/log"
		fail "$e is not on the page"
	}
	! grep -q "<h2 id=\"$e\">$e<" "$page" || fail "$e has no title"
	python3 - "$tmp/report/$e.json" <<-'END' || fail "$e.json"
	import json, math, sys
	r = json.load(open(sys.argv[1]))
	series = [(f, s) for f in r["figures"] for s in f["series"]]
	assert series or r["missing"], "neither figures nor a reason"
	for f, s in series:
	    # These experiments show an iod that sleeps most of the time.
	    asleep = f["y"] == "switches a second" or f["name"] == "cpu-server"
	    least = 0 if asleep else 1e-9
	    for p in s["points"]:
	        assert p["median"] >= least and p["rounds"], (f["name"], s["name"], p)
	assert all(math.isfinite(f["value"]) for f in r["findings"])
	END
done
for picture in $(grep -o 'src="[^"]*"' "$page" | cut -d'"' -f2); do
	[ -s "$tmp/report/$picture" ] || fail "$picture is on the page only"
done
grep -q 'src="raw-latency.svg"' "$page" || fail "no pictures"
[ -s "$tmp/report/raw-latency-dark.svg" ] || fail "no pictures for dark pages"

must_fail pvfs-perf no-such-thing
must_fail pvfs-perf bandwidth
must_fail pvfs-perf bandwidth --on nowhere
ls /dev/shm/pvfs-report.* 2>/dev/null | grep -q . &&
	say "another report runs beside this one"
exit 0
