#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A full disk at the manager: changes fail with ENOSPC, and files can be removed, also if others
# took all the space.  Reads and writes of data go on.  The manager neither ends nor needs help when
# there is space again.
. "$(dirname "$0")/functions.sh"

small_disk "$state/mgr" 110
start_pvfs -n 2
pid=$(cluster pid mgr)

# fill FILE MIB: takes all space but MIB
fill() {
	local left=$(($(df -k --output=avail "$state/mgr" | tail -n 1) - $2 * 1024))

	fallocate -l ${left}k "$state/mgr/$1"
}
# refuses COMMAND...: with ENOSPC; the manager looks at its disk now and then.
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

# somebody else takes the space
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

# a restart finds room in what is its own
must cluster kill-mgr
must cluster start-mgr 5>&-
refuses pvio create /pvfs new. 1 1
expect ok pvio unlink /pvfs/old.6
rm "$state/mgr/all"

# space comes back, and with it success
rm "$state/mgr/much"
until_true 30 works
expect ok pvio create /pvfs new. 20 1
exec 5>&-
wait "${helpers[0]}" || fail "the client that was busy: $(cat "$tmp/holder")"
helpers=()
expect 15 bash -c "pvio names /pvfs | grep -c '^old\.'"
