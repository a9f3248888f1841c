#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfstab and the servers' configuration set the maximum payload of messages and of Fast RDMA
# buffers. The environment overrides pvfstab.
. "$(dirname "$0")/functions.sh"
# this test does not cover access without requests
export PVFS_DIRECT=off

start_pvfs -n 1

# by_fast yes|no OPTIONS [ENVIRONMENT...]: whether writes of 30000 bytes use Fast RDMA; the first
# write of a connection asks for the buffers
by_fast() {
	local want=$1 options=$2 first last is=no
	shift 2

	sed "s|pvfs port=|pvfs ${options:+$options,}port=|" "$state/pvfstab" \
		>"$tmp/pvfstab"
	first=$(metric 0 fast)
	env PVFSTAB_FILE="$tmp/pvfstab" "$@" \
		pvio ack /pvfs/f 12 30000 7 >"$tmp/out" ||
		fail "$options $*: not written"
	last=$(metric 0 fast)
	[ "${last:-0}" -gt "${first:-0}" ] && is=yes
	[ $is = "$want" ] || fail "$options $*: by Fast RDMA: $is, want $want"
}

by_fast no ''
by_fast yes fast_max=64K
by_fast no fast_max=64K,inline_max=64K		# the message takes it
by_fast yes fast_max=0/tcp:64K/local:64K,inline_max=4K
by_fast no fast_max=verbs:64K,inline_max=4K
by_fast no fast_max=29K,inline_max=4K
by_fast no fast_max=64K,inline_max=4K PVFS_FAST_MAX=0
by_fast no fast_max=64K,inline_max=4K PVFS_INLINE_MAX=64K
by_fast yes '' PVFS_FAST_MAX=64K PVFS_INLINE_MAX=0
by_fast yes inline_max=4K PVFS_FAST_RDMA=on
by_fast no fast_max=64K,inline_max=4K PVFS_FAST_RDMA=off

# the settings of the servers: room in messages, and for buffers
cluster stop
sed -i 's|^\[iod\]|&\ninline_max = 4K|' "$state/pvfs.conf"
cluster start || fail "does not start with inline_max"
by_fast yes fast_max=64K,inline_max=64K
cluster stop
sed -i 's|^\[iod\]|&\nfast_size = 0|' "$state/pvfs.conf"
cluster start || fail "does not start with fast_size"
by_fast no fast_max=64K,inline_max=0

# an invalid value is reported and ignored
PVFS_FAST_MAX=65K must pvfs-ls /pvfs >"$tmp/output" 2>&1
grep -q 'PVFS_FAST_MAX=65K: want SIZE' "$tmp/output" || fail "$(cat "$tmp/output")"
