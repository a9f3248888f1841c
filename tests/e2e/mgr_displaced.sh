#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two managers run on two copies of one database. The iods obey the one that was started later; of
# two with the same term, the one that claimed them first. The other one ends, acknowledges no
# changes, and cannot be started again without --restore.
. "$(dirname "$0")/functions.sh"
requires tcp

mgr=$PVFS_BUILD/mgr/pvfs-mgr
gone() { ! kill -0 "$1" 2>/dev/null; }
says() { grep -qF -- "$1" "$2" || fail "no '$1' in: $(<"$2")"; }

# second: starts another manager on the folder "copy", and sets its pid
second() {
	"$mgr" --config "$tmp/second.conf" 2>second.log &
	second=$!
	helpers+=("$second")
}

start_pvfs -n 2
first_port=$(port_of mgr)
port=$(free_port)
sed "/^\[mgr\]/,/^\[/ { s|:$first_port\$|:$port|; s|^storage.*|storage = $tmp/copy| }" \
	"$state/pvfs.conf" >second.conf
sed "s/port=$first_port/port=$port/" "$state/pvfstab" >second.tab
expect ok pvio write /pvfs/f 0 300000 1

# a copy of a running manager; no request to an iod is in flight when it is displaced
stand_still "$(cluster pid mgr)"
cp -a "$state/mgr" copy
first=$(cluster pid mgr)
must kill -CONT "$first"
second
until_true 30 grep -q ': ready' second.log
until_true 30 gone "$first"
says 'it obeys another manager' "$(log_of mgr)"
must_fail env PVFS_TIMEOUT=2 pvfs-mkdir /pvfs/acknowledged
for again in 1 2 3; do # each would have a higher term than the one before
	must_fail cluster start-mgr
	says 'was displaced' "$(log_of mgr)"
done
PVFSTAB_FILE=$tmp/second.tab expect ok pvio write /pvfs/g 0 300000 2
PVFSTAB_FILE=$tmp/second.tab expect ok pvio check /pvfs/f 0 300000 1
kill -0 "$second" || fail "the second one ended: $(<second.log)"
kill "$second" && wait "$second"
must_fail cluster start-mgr
must "$mgr" --config "$state/pvfs.conf" --restore
must cluster start-mgr
expect ok pvio check /pvfs/f 0 300000 1
expect ok pvio write /pvfs/h 0 300000 3

# two copies of a stopped manager, each started once, so they have the same term
must cluster stop-mgr
rm -r copy && cp -a "$state/mgr" copy
must cluster start-mgr
expect ok pvio check /pvfs/h 0 300000 3 # it has the iods
second
until_true 30 gone "$second"
says 'it obeys another manager' second.log
expect ok pvio write /pvfs/h 0 300000 4
expect ok pvio check /pvfs/h 0 300000 4

# the same, but each of them gets one iod before it meets the other: one of them continues
must cluster stop-mgr
rm -r copy && cp -a "$state/mgr" copy
must cluster stop-iod 0
must cluster stop-iod 1
must cluster start-mgr
must cluster start-iod 0
until_true 30 grep -q ': ready' "$(log_of iod0)"
first=$(cluster pid mgr)
stand_still "$first" "$(cluster pid 0)"
"$PVFS_BUILD/server/pvfs-iod" --config "$state/pvfs.conf" --index 1 2>iod.log &
helpers+=($!)
second
until_true 30 grep -q ': ready' iod.log # the second manager has it
kill -0 "$second" || fail "the second one ended: $(<second.log)"
must kill -CONT "$(cluster pid 0)"
until_true 30 gone "$second"
must kill -CONT "$first"
expect ok pvio write /pvfs/i 0 300000 5
expect ok pvio check /pvfs/i 0 300000 5
kill -0 "$first" || fail "both managers ended: $(<"$(log_of mgr)")"
says 'it obeys another manager' second.log
must_fail "$mgr" --config second.conf
