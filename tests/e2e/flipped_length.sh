#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One bit of the length or of the seq of a frame is flipped on its way over tcp: in a reply of the
# manager or of an iod, in a request to either, also from the manager to an iod, and in the first
# frame of a connection and its reply. The receiver ends the connection before it uses any field of
# the frame. The other end reconnects, and the call that waits succeeds within its deadline.
. "$(dirname "$0")/functions.sh"
requires tcp
requires tool python3

# between SERVER DEED-FILE OUTPUT: starts a proxy that can change a frame
between() {
	echo pass >"$2"
	python3 "$e2e/seal_middle.py" "$(port_of "$1")" "$tmp/$2" >"$3" 2>&1 &
	helpers+=($!)
	until_true 30 test -s "$3"
}

start_pvfs -n 1 --transport tcp
between mgr mgr.deed mgr.port
between iod.0 iod.deed iod.port
# the manager tells clients the address of the proxy of the iod
sed -i "/^\[iod.0\]/,/^\[/ s|:$(port_of iod.0)\$|:$(<iod.port)|" "$state/pvfs.conf"
must cluster stop-mgr
must cluster start-mgr
sed -i "s/port=$(port_of mgr)/port=$(<mgr.port),timeout=12/" "$state/pvfstab"
expect ok pvio write /pvfs/f 0 300000 1
for deed in longer longer_asked seq seq_asked; do
	for server in mgr iod; do
		echo $deed >$server.deed
		expect ok pvio check /pvfs/f 0 300000 1
		until_true 30 grep -qx pass $server.deed
	done
done
for deed in seq seq_asked; do
	# without clients, the next request to the iod is from the manager
	echo $deed >iod.deed
	until_true 30 grep -qx pass iod.deed
	expect ok pvio write /pvfs/f 0 300000 1
	expect ok pvio check /pvfs/f 0 300000 1
done
# the first frame of a connection, which the server reads, and its reply
noticed() { grep -c 'changed on the way' "$1"; }
for server in mgr iod; do
	log=$(log_of ${server/iod/iod0})
	before=$(noticed "$log")
	echo connect >$server.deed
	expect ok pvio check /pvfs/f 0 300000 1
	[ "$(noticed "$log")" -gt "$before" ] || fail "the $server used a flipped bit of a connect"
	echo accept >$server.deed
	expect ok pvio check /pvfs/f 0 300000 1
	grep -q 'Bad message' "$tmp/stderr" || fail "the client used a flipped bit of the $server: $(<"$tmp/stderr")"
	grep -qx pass $server.deed || fail "there was no connection to the $server"
done
cat "$(log_of mgr)" "$(log_of iod0)" >logs
grep -q 'changed on the way' logs || fail "no server noticed a flipped bit"
grep 'seq is too old\|protocol error' logs && fail "a flipped bit was used"
true
