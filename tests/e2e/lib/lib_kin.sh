#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A holder of locks is killed. Its child, made by fork(), _Fork(), clone3(), or with an exec, has
# never called PVFS. The child does not count as its parent, and other clients get the locks.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2 --set mgr.session_timeout=2 --set mgr.dead_peer=2 \
	--set iod.dead_peer=2

for how in fork _Fork clone exec; do
	expect ok pvio mkdir "/pvfs/$how"
	lib_living leave "/pvfs/$how" $how >"$tmp/$how" 2>"$tmp/$how.err" &
	parent=$!
	helpers+=($parent)
	until_true 30 grep -q child "$tmp/$how"
	child=$(sed -n 's/^child //p' "$tmp/$how")
	helpers+=("$child")
	expect held lib_living try "/pvfs/$how"
	kill -KILL $parent
	until_true 90 eval '[ "$(lib_living try "/pvfs/$how")" = free ]'
	kill -0 "$child" || fail "$how: the child is gone, too"
	say "$how: free"
done
