#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# With a key, and without a leader, pvfs-doctor reports the missing leader, and not that iods refuse
# this client.
. "$(dirname "$0")/functions.sh"

PVFS_TEST_AUTH=${PVFS_TEST_AUTH:-key}
start_pvfs -n 1 --managers 3

lead=$(leader)
for n in "$lead" $(((lead + 1) % 3)); do must cluster stop-mgr "$n"; done

none_leads() {
	pvfs-doctor -c "$state/pvfs.conf" --all >"$tmp/doctor" 2>&1
	grep -q '^found: reach, mgr: no manager leads' "$tmp/doctor"
}
until_true 60 none_leads
grep -q '^found: reach, iod 0: no manager leads' "$tmp/doctor" || fail "iod: $(cat "$tmp/doctor")"
! grep -q 'refuses this client' "$tmp/doctor" || fail "refused: $(cat "$tmp/doctor")"

must cluster start
serves() {
	pvfs-doctor -c "$state/pvfs.conf" --all >"$tmp/doctor" 2>&1
	! grep -q '^found: reach' "$tmp/doctor"
}
until_true 60 serves
