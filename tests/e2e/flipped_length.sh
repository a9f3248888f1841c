#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One bit of the length of an answer from the manager is flipped on its way over tcp: the
# client waits for bytes that never come, on a connection that looks well.  It makes another
# one, and the call that waits succeeds within its deadline.
. "$(dirname "$0")/functions.sh"
requires tcp
requires tool python3

start_pvfs -n 1 --transport tcp
echo pass >deed
python3 "$e2e/seal_middle.py" "$(port_of mgr)" "$tmp/deed" >middle 2>&1 &
helpers+=($!)
until_true 30 test -s middle
sed -i "s/port=$(port_of mgr)/port=$(<middle),timeout=5/" "$state/pvfstab"
expect ok pvio write /pvfs/f 0 300000 1
for round in 1 2 3; do
	echo longer >deed
	expect ok pvio check /pvfs/f 0 300000 1
	[ "$(<deed)" = pass ] || fail "no answer was changed"
done
