#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Tools with many files stop after some time-outs and name the dead server; they do not wait for it
# at each file.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 1
mkdir "$tmp/tree"
for i in $(seq 40); do echo "$i" >"$tmp/tree/$i"; done
must pvfs-cp -r "$tmp/tree" /pvfs/before

# gave_up WHO [MOST]: the tool reported WHO once, and stopped after at most MOST files
gave_up() {
	[ "$(grep -c "giving up" "$tmp/output")" = 1 ] ||
		fail "no word: $(cat "$tmp/output")"
	grep -q "timed out and $1 (tcp://.*) does not answer.*giving up" \
		"$tmp/output" || fail "not $1: $(cat "$tmp/output")"
	[ "$(grep -c "^pvfs-.*: Connection timed out" "$tmp/output")" -le "${2:-10}" ] ||
		fail "went on: $(cat "$tmp/output")"
}

export PVFS_TIMEOUT=1
stand_still "$(cluster pid 0)"
must_fail pvfs-cp -r "$tmp/tree" /pvfs/after
gave_up "iod 0" 20 # others end while it asks whether the iod is there
must_fail pvfs-cp -r -j 1 /pvfs/before "$tmp/back"
gave_up "iod 0"
kill -CONT "$(cluster pid 0)"

stand_still "$(cluster pid mgr)"
must_fail pvfs-rm -r /pvfs/before/{1,2,3,4,5,6,7,8,9,10,11,12}
gave_up "the manager"
must_fail pvfs-ls -l /pvfs/before/{1,2,3,4,5,6,7,8,9,10,11,12}
gave_up "the manager"
kill -CONT "$(cluster pid mgr)"

unset PVFS_TIMEOUT
must pvfs-rm -r /pvfs/before
