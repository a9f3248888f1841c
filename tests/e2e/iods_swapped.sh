#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Only the manager's configuration has the addresses of two iods exchanged. No client uses an iod as
# the other one: calls fail with ENXIO, and after the correction everything is intact.
. "$(dirname "$0")/functions.sh"
start_pvfs -n 2
must pvio write /pvfs/kept 0 1000000 1
must pvio write /pvfs/other 0 1000000 2
cp "$state/pvfs.conf" with_key.conf
export PVFS_TIMEOUT=5

swap() {
	awk -v a="$(conf_value iod.0 address)" -v b="$(conf_value iod.1 address)" '
		/^\[/ { to = "" } /^\[iod\.0\]/ { to = b } /^\[iod\.1\]/ { to = a }
		/^address/ && to { $0 = "address = " to } { print }' "$state/pvfs.conf"
}
refused() { # command...: fails at once with ENXIO
	"$@" >refused.log 2>&1 && fail "$*: succeeded"
	grep -q 'No such device or address\|ENXIO' refused.log || fail "$*: $(cat refused.log)"
	! grep -q 'timed out' refused.log || fail "$*: $(cat refused.log)"
}
swapped() { # with or without a key of the servers
	must cluster stop-mgr
	swap >swapped.conf
	"$PVFS_BUILD/mgr/pvfs-mgr" --config "$tmp/swapped.conf" 2>swapped.log & swapped=$!
	helpers+=("$swapped")
	until_true 30 grep -q 'iod 0 .*this is iod 1: correct the address in \[iod.0\]' swapped.log
	until_true 30 grep -q 'iod 1 .*this is iod 0: correct the address in \[iod.1\]' swapped.log
	until_true 30 pvfs-ls /pvfs
	refused pvio check /pvfs/kept 0 1000000 1
	refused pvio write /pvfs/other 0 65536 9
	refused pvio write /pvfs/new 0 65536 9
	refused pvfs-cp /pvfs/kept copy
	refused pvfs-cp with_key.conf /pvfs/copied
	pvio check /pvfs/kept 0 1000000 1 2>&1 |
		grep -q 'iod [01] .*this is iod [01]: correct the address in \[iod' ||
		fail "a client does not say which iod it met"
	kill "$swapped" && wait "$swapped"
	must cluster start-mgr
	PVFS_TIMEOUT=30 expect ok pvio check /pvfs/kept 0 1000000 1
	PVFS_TIMEOUT=30 expect ok pvio check /pvfs/other 0 1000000 2
}
swapped
must cluster stop
sed -i '/^key =/d' "$state/pvfs.conf"
must cluster start
swapped
