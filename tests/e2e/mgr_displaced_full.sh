#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A manager is displaced while its disk is full to the last byte. It ends, and does not start again,
# neither on the full disk nor with free space. Otherwise each start would raise its term, until the
# iods obeyed it again.
. "$(dirname "$0")/functions.sh"
requires tcp

gone() { ! kill -0 "$1" 2>/dev/null; }
says() { grep -qF -- "$1" "$2" || fail "no '$1' in: $(<"$2")"; }

small_disk "$state/mgr" 110
start_pvfs -n 1
first_port=$(port_of mgr)
port=$(free_port)
sed "/^\[mgr\]/,/^\[/ { s|:$first_port\$|:$port|; s|^storage.*|storage = $tmp/copy| }" \
	"$state/pvfs.conf" >second.conf
expect ok pvio write /pvfs/f 0 300000 1

first=$(cluster pid mgr)
stand_still "$first"
cp -a "$state/mgr" copy
"$PVFS_BUILD/mgr/pvfs-mgr" --config second.conf 2>second.log &
second=$!
helpers+=("$second")
until_true 30 grep -q ': ready' second.log
cat /dev/zero >"$state/mgr/theirs" 2>/dev/null
[ "$(df -k --output=avail "$state/mgr" | tail -n 1)" -eq 0 ] || fail "the disk is not full"
must kill -CONT "$first"
until_true 30 gone "$first"
says 'it obeys another manager' "$(log_of mgr)"
for again in 1 2 3; do
	must_fail cluster start-mgr
	says 'was displaced' "$(log_of mgr)"
done
rm "$state/mgr/theirs"
for again in 1 2 3; do
	must_fail cluster start-mgr
	says 'was displaced' "$(log_of mgr)"
done
kill -0 "$second" || fail "the second one ended: $(<second.log)"
