#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An object that was lent to an evicted client must be replaced by a copy, but there is no room for
# the copy. pvfs-evict reports this, other clients use the file, and the iod makes the copy when
# there is room, also after a restart.
. "$(dirname "$0")/functions.sh"
requires root

small_disk "$state/iod0" 16
start_pvfs -n 1 --transport pvfs
logged() { grep -q -- "$1" "$(log_of iod0)"; }
pvfs-ping | grep -q 'lends objects, for writing too' || skip "nothing is lent for writing here"

must pvio write /pvfs/lent 0 60000 1
pvio flood /pvfs/lent 60000 >said 2>err & flood=$!
helpers+=("$flood")
until_true 30 grep -q holding said
without() { # requests: it has a loan
	local before=$(requests_of WRITE)

	sleep 0.2
	[ "$(requests_of WRITE)" = "$before" ]
}
until_true 30 without
cat /dev/zero >"$state/iod0/filler" 2>/dev/null
must_fail pvfs-evict -u "$(id -u)" /pvfs
grep -q 'iod 0 has no room to copy 1 objects that it lent to evicted programs' "$tmp/output" ||
	fail "$(cat "$tmp/output")"
wait $flood && fail "the writer goes on"
must logged 'cannot be replaced by a copy: No space left on device'
expect ok pvio write /pvfs/lent 0 60000 2

# an eviction that ends no session reports it, too
must_fail pvfs-evict -J nobodys /pvfs
grep -q 'no room to copy' "$tmp/output" || fail "$(cat "$tmp/output")"

must cluster kill-iod 0
must cluster start-iod 0
until_true 30 eval 'pvfs-evict -J nobodys /pvfs 2>&1 | grep -q "no room to copy"'
expect ok pvio check /pvfs/lent 0 60000 2

rm "$state/iod0/filler"
until_true 30 logged 'replaced by a copy, because it was lent to evicted session'
expect ok pvio check /pvfs/lent 0 60000 2
must_fail pvfs-evict -J nobodys /pvfs
grep -q 'there is no such session' "$tmp/output" || fail "$(cat "$tmp/output")"
