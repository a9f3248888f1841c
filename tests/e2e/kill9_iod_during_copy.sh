#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An iod is killed with SIGKILL during a copy: the client waits, reconnects and resends, and the
# data is correct.
. "$(dirname "$0")/functions.sh"

mib=${E2E_KILL_MIB:-192}
head -c "${mib}M" /dev/urandom >"$tmp/in"
start_pvfs -n 3 --sync on
stored() { du -scm "$state"/iod*/objects 2>/dev/null | awk 'END { print $1 }'; }

pvfs-cp -k 1M "$tmp/in" /pvfs/file >"$tmp/cp" 2>&1 &
copy=$!
helpers+=("$copy")
kills=0
# Copies in small steps: on a fast machine the copy would end before the first check.
step_on() {
	kill -CONT $copy && sleep 0.02 && kill -STOP $copy
} 2>/dev/null
for k in 0 1 2 1; do
	before=$(stored)
	moved() { ! step_on || [ "$(stored)" -gt $((before + mib / 12)) ]; }
	until_true 120 moved
	kill -0 $copy 2>/dev/null || break
	must cluster kill-iod $k
	kill -CONT $copy
	must cluster start-iod $k
	kills=$((kills + 1))
done
wait $copy || { cat "$tmp/cp"; fail "the copy failed"; }
helpers=()
[ $kills -ge 2 ] || fail "the copy was over after $kills kills"
say "$kills kills"
must cmp "$tmp/in" <(pvfs-cat /pvfs/file)

# the same while reading
pvfs-cp -k 1M /pvfs/file "$tmp/out" >"$tmp/cp" 2>&1 &
copy=$!
helpers+=("$copy")
moved() { [ "$(du -m "$tmp/out" 2>/dev/null | cut -f1)" -gt 16 ] ||
	! kill -0 $copy 2>/dev/null; }
until_true 120 moved
must cluster kill-iod 0
must cluster start-iod 0
wait $copy || { cat "$tmp/cp"; fail "the copy out failed"; }
helpers=()
must cmp "$tmp/in" "$tmp/out"
