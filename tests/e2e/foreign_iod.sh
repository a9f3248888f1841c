#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An iod of another file system at the address of one of ours: a call that needs it fails
# immediately, also if the manager needs it for that call.
. "$(dirname "$0")/functions.sh"

# A time-out against a hang, much longer than the test.
export PVFS_TIMEOUT=3000

# refused COMMAND...: the command fails, with the server and the reason
refused() {
	must_fail timeout 120 "$@"
	grep -q '^ENXIO$\|No such device or address' "$tmp/output" &&
		grep -q "iod 1 (.*refused: the server serves file system" "$tmp/output" ||
		fail "$*: $(cat "$tmp/output")"
}

start_pvfs -n 3
expect ok pvio write /pvfs/a 0 3000000 1
must cluster kill-iod 1
sed "s/^id = .*/id = 1234567890abcdef/; s|$state/iod1|$tmp/other|" \
	"$state/pvfs.conf" >other.conf
mkdir other
"$PVFS_BUILD/server/pvfs-iod" --config other.conf --index 1 2>other.log &
helpers+=($!)
until_true 30 grep -q 'waits: iod 1 ' other.log

must_fail pvfs-ping
grep -q "^iod 1 .*foreign *serves another file system: .*correct" \
	"$tmp/output" || fail "pvfs-ping: $(cat "$tmp/output")"
[ "$(grep -c " up " "$tmp/output")" = 3 ] || fail "the others are not up"
must_fail pvfs-ping -j
grep -q '"state": *"foreign"' "$tmp/output" || fail "$(cat "$tmp/output")"
refused pvio check /pvfs/a 0 3000000 1
refused pvio write /pvfs/a 0 3000000 1
# the size of the file is only known to the iods
refused pvio stat /pvfs/a
refused pvio truncate /pvfs/a 1000000
# while another request waits
refused pvio write /pvfs/a 0 10 1
# no call waits for another iod that is down
must cluster kill-iod 2
refused pvio check /pvfs/a 0 3000000 1
refused pvio write /pvfs/a 0 3000000 1
refused pvio stat /pvfs/a
refused pvio truncate /pvfs/a 1500000
must cluster start-iod 2
# a manager that has never reached the right iod
must cluster kill-mgr
must cluster start-mgr
refused pvio truncate /pvfs/a 2000000
expect ok pvio chmod 600 /pvfs/a

# the right iod starts: unfinished work is completed
kill "${helpers[0]}"
wait "${helpers[0]}"
helpers=()
must cluster start-iod 1
expect ok pvio truncate /pvfs/a 900000
expect ok pvio check /pvfs/a 0 900000 1
