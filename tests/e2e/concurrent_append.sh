#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Several processes append records to one file: none is lost, none is torn, and each writer's
# records are in its order.
. "$(dirname "$0")/functions.sh"

writers=6 count=150 size=1777
start_pvfs -n 3
for w in $(seq $writers); do
	pvio append /pvfs/log $count $size writer$w >"$tmp/w$w" &
	helpers+=($!)
done
for w in $(seq $writers); do
	wait "${helpers[w - 1]}" || fail "writer $w: $(cat "$tmp/w$w")"
done
helpers=()
expect $((writers * count * size)) \
	bash -c "pvio stat /pvfs/log | awk 'NR == 1 { print \$5 }'"
pvfs-cat /pvfs/log >"$tmp/log"
expect $((writers * count)) bash -c "wc -l <'$tmp/log'"
awk -v size=$size '
	length($0) != size - 1 { print "torn record " NR; exit 1 }
	$2 + 0 != next_of[$1] + 0 { print $1 ": " $2 " out of order"; exit 1 }
	{ next_of[$1] = $2 + 1 }' "$tmp/log" || fail "records"
