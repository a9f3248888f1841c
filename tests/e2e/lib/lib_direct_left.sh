#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients that get signals, cancel threads and have children while they write to what they
# borrowed: nobody is left marked as one who is inside, and no handler runs there.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 1
lent=$(echo "$state"/iod0*/lent)
for way in handle cancel fork; do
	expect ok timeout 100 lib_direct_left /pvfs $way "$lent"
done
