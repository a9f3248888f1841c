#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients create, move, link and remove the same names, and are killed while they do so, as are the
# servers. No call fails without a reason. Afterwards names match objects, and when all names are
# removed, no object remains.
. "$(dirname "$0")/functions.sh"

fsck() { "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf"; }
clients=()
seed=0
# client K: starts client K, or its successor
client() {
	seed=$((seed + 1))
	pvchurn /pvfs/t $seed 2>>"$tmp/errors" &
	clients[$1]=$!
	helpers+=($!)
}
kill_client() {
	kill -KILL "${clients[$1]}" ||
		fail "client $1 ended by itself: $(cat "$tmp/errors")"
	wait "${clients[$1]}" 2>/dev/null
}

start_pvfs -n 3 --sync on --set mgr.session_timeout=2
expect ok pvio mkdir /pvfs/t
for k in 0 1 2 3; do client $k; done
for round in 0 1 2 3 4 5 6 7; do
	sleep 0.3
	case $((round % 4)) in
	1)	must cluster kill-mgr
		must cluster start-mgr ;;
	3)	must cluster kill-iod $((round % 3))
		must cluster start-iod $((round % 3)) ;;
	esac
	kill_client $((round % 4))
	client $((round % 4))
done
sleep 0.5
for k in 0 1 2 3; do kill_client $k; done
helpers=()
clean() { fsck >"$tmp/fsck" 2>&1; }
until_true 60 clean
say "$(tail -n 1 "$tmp/fsck")"
must pvfs-rm -r /pvfs/t
empty() { [ "$(objects)" = 0 ]; }
until_true 60 empty
must clean
