#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A clean stop and start of all servers preserves everything and logs it.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 3
expect ok pvio write /pvfs/a 0 3000000 1
expect ok pvio mkdir /pvfs/dir
expect ok pvio write /pvfs/dir/b 123456789 1000 2
expect ok pvio symlink dir/b /pvfs/link
expect ok pvio chmod 2751 /pvfs/dir
before=$(pvio stat /pvfs/a; pvio stat /pvfs/dir/b; pvio stat /pvfs/link;
	pvio stat /pvfs/dir)
for round in 1 2 3; do
	restart_pvfs
	after=$(pvio stat /pvfs/a; pvio stat /pvfs/dir/b;
		pvio stat /pvfs/link; pvio stat /pvfs/dir)
	[ "$before" = "$after" ] || fail "round $round: '$after' was '$before'"
	expect ok pvio check /pvfs/a 0 3000000 1
	expect ok pvio check /pvfs/link 123456789 1000 2
done
expect 'already running' bash -c \
	"'$top/scripts/cluster' start -d '$state' | sed -n 's/:.*//p;q'"
