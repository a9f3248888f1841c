#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Memory is registered once for many calls, or copied to Fast RDMA buffers, and changes in between.
# Every byte is correct, registrations are reused, and the buffers are used.
. "$(dirname "$0")/functions.sh"
# this test does not cover access without requests
export PVFS_DIRECT=off

start_pvfs -n 3
expect ok pvpin /pvfs 2 200
# no data is sent in messages; all is moved by Fast RDMA or by the server
PVFS_INLINE_MAX=1 expect ok pvpin /pvfs 2 100
PVFS_INLINE_MAX=1 PVFS_FAST_RDMA=on expect ok pvpin /pvfs 2 100
export PVFS_PIN_CACHE=on PVFS_LOG=info
timeout 200 pvpin /pvfs 4 400 >"$tmp/out" 2>"$tmp/log" || {
	tail -20 "$tmp/log"
	fail "pvpin: exit $?"
}
expect ok cat "$tmp/out"
PVFS_FAST_RDMA=on timeout 200 pvpin /pvfs 3 200 >"$tmp/out" 2>>"$tmp/log" || {
	tail -20 "$tmp/log"
	fail "pvpin by Fast RDMA: exit $?"
}
expect ok cat "$tmp/out"
until_true 10 metric_above 0 0 fast
if grep -q 'userfaultfd' "$tmp/log"; then
	skip "the kernel does not tell what is unmapped: $(head -1 "$tmp/log")"
fi
grep -q 'registrations: [1-9][0-9]* found' "$tmp/log" || {
	cat "$tmp/log"
	fail "no registration was found again"
}
