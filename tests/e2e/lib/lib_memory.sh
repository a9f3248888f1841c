#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A call returns only when no server can write to its memory any more, even if that is after its
# deadline, and also if a server is stopped during such a write.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

export STOP_IN_COPY=$tmp/stop
ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
	LD_PRELOAD=$PVFS_BUILD/tests/e2e/lib/libstop_in_copy.so \
	PVFS_TEST_SCHEME=local start_pvfs -n 1
sed -i 's/transport=local/&,dead_peer=1/' "$PVFSTAB_FILE"
pid=$(cluster pid 0)
[ "$(PVFS_TIMEOUT=1 timeout 120 lib_memory /pvfs/file "$tmp/stop" "$pid")" = ok ] ||
	fail "not to its end"
