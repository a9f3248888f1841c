#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls with unmapped buffers fail with EFAULT, long before the time-out.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 3
# the test ends within the time-out of one call, so none of its 60 calls waited for it
PVFS_TIMEOUT=500 must timeout 400 lib_fault /pvfs >"$tmp/out" 2>"$tmp/err"
[ "$(tail -n 1 "$tmp/out")" = ok ] || fail "not to its end"
