# SPDX-License-Identifier: BSD-2-Clause
# rolling_load.sh - a program works on /pvfs during a test, and its calls must not fail; sourced
# after functions.sh and start_pvfs.

touch "$tmp/load.out"
pvrolling /pvfs/load "$tmp/load" /pvfs/counter >"$tmp/load.out" 2>&1 &
load=$!
helpers+=("$load")

has_load_lines() {
	[ "$(wc -l <"$tmp/load.out")" -ge "$1" ] && return
	kill -0 "$load" 2>/dev/null || fail "the program has ended: $(tail -n 3 "$tmp/load.out")"
	return 1
}

# load_goes_on [LINES]: waits until the program has printed LINES (3) more lines, one for ten rounds
# of calls
load_goes_on() { until_true 120 has_load_lines $(($(wc -l <"$tmp/load.out") + ${1:-3})); }

# end_load: ends the program; none of its calls has failed
end_load() {
	touch "$tmp/load.end"
	wait "$load" || fail "the program failed: $(tail -n 3 "$tmp/load.out")"
	helpers=()
}
