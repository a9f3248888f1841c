#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The manager's disk is full. Changes fail with ENOSPC, and files can be removed, even if other
# programs took all the space. Reads and writes of data continue. The manager neither ends nor needs
# help when there is space again.
. "$(dirname "$0")/functions.sh"

small_disk "$state/mgr" 110
start_pvfs -n 2
pid=$(cluster pid mgr)

# fill FILE MIB: fills the disk except for MIB
fill() {
	local left=$(($(df -k --output=avail "$state/mgr" | tail -n 1) - $2 * 1024))

	fallocate -l ${left}k "$state/mgr/$1"
}
# refuses COMMAND...: fails with ENOSPC; the manager checks its disk periodically
refuses() {
	must_fail "$@"
	expect ENOSPC tail -n 1 "$tmp/output"
}
short() { grep -q 'MiB left' "$(log_of mgr)"; }
looks() { pvio chmod 644 /pvfs/file >"$tmp/output"; "$@"; }
works() { [ "$(pvio chmod 640 /pvfs/file)" = ok ]; }

expect ok pvio write /pvfs/file 0 1000000 1
expect ok pvio create /pvfs old. 20 1
mkfifo "$tmp/fifo"
pvio hold /pvfs/held <"$tmp/fifo" >"$tmp/holder" &
helpers+=($!)
exec 5>"$tmp/fifo"
held() { grep -q holding "$tmp/holder"; }
until_true 30 held

# another program takes the space
fill much 2
until_true 30 looks short
refuses pvio chmod 600 /pvfs/file
refuses pvio create /pvfs new. 1 1
refuses pvio rename /pvfs/file /pvfs/elif
refuses pvio openw /pvfs/file
must_fail "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" --backup "$tmp/copy"
grep -q 'is nearly full' "$tmp/output" || fail "a copy on a full disk: $(<"$tmp/output")"
[ ! -e "$tmp/copy" ] || fail "something is left of a copy"
expect ok pvio check /pvfs/file 0 1000000 1
for i in 1 2 3; do expect ok pvio unlink /pvfs/old.$i; done
# ... all of it
fill all 0
sleep 0.1
refuses pvio chmod 600 /pvfs/file
expect ok pvio unlink /pvfs/old.5
expect ok pvio check /pvfs/file 0 1000000 1
[ "$(cluster pid mgr)" = "$pid" ] || fail "the manager did not survive"

# a restarted manager uses room that it has reserved
must cluster kill-mgr
must cluster start-mgr 5>&-
refuses pvio create /pvfs new. 1 1
expect ok pvio unlink /pvfs/old.6
rm "$state/mgr/all"

# there is space again, and changes succeed
rm "$state/mgr/much"
until_true 30 works
expect ok pvio create /pvfs new. 20 1
exec 5>&-
wait "${helpers[0]}" || fail "the client that was busy: $(cat "$tmp/holder")"
helpers=()
expect 15 bash -c "pvio names /pvfs | grep -c '^old\.'"
