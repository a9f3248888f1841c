#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-perf leaves no files, works without gnuplot, and prints the cause of errors; so do pvfs-bench
# and the scripts that use it.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 2
# a PATH without gnuplot
mkdir "$tmp/bin"
ln -s "$(command -v sh)" "$tmp/bin/sh"
must env PATH="$tmp/bin" "$(command -v pvfs-perf)" bandwidth -o tcp=/pvfs -r 1 -m 8 \
	-c 2 -i 1,2 -d "$tmp/out" >"$tmp/output" 2>&1
grep -q "gnuplot-nox" "$tmp/output" || fail "$(cat "$tmp/output")"
[ -s "$tmp/out/bandwidth.json" ] || fail "no figures without pictures"
expect '' pvfs-ls /pvfs

must_fail pvfs-perf bandwidth -m 3
grep -q -- "-m 3: want a number from 8" "$tmp/output" ||
	fail "$(cat "$tmp/output")"
must_fail pvfs-bench --mib 32
grep -q -- "--mib 32: want 64 or more" "$tmp/output" ||
	fail "$(cat "$tmp/output")"
must "$top/scripts/count-tests" --help >"$tmp/output"
must_fail "$top/scripts/count-tests"
! grep -q Traceback "$tmp/output" || fail "$(cat "$tmp/output")"
# if pvfs-bench fails, scripts/bench does not report a written file
PVFS_BENCH_MEMORY=$tmp must_fail "$top/scripts/bench" -o "$tmp/bench" -- --mib 32
! grep -q "written:" "$tmp/output" || fail "$(cat "$tmp/output")"
# small calls: a line for each size, with all transports
PVFS_BENCH_MEMORY=$tmp must "$top/scripts/bench" -n 2 -o "$tmp/small" -- \
	--only small --rounds 1 --mib 64 >"$tmp/output"
grep -q '^| operation | call | clients | own | tcp | of own | local | of own |' \
	"$tmp/small/bench.md" || fail "$(cat "$tmp/output")"
[ "$(grep -cE '^\| (write over|read) \|( [0-9.]+ \|){7}' "$tmp/small/bench.md")" = 16 ] ||
	fail "$(cat "$tmp/small/bench.md")"
must_fail pvfs-bench --on tcp
