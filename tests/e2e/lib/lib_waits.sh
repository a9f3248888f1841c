#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Many threads and requests of one process wait for a lock that the process holds. Its other
# requests, and the unlock, do not wait for them.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2
expect ok pvio mkdir /pvfs/d
for n in ${WAITS:-20 64 200}; do
	expect ok lib_waits /pvfs/d $n
done
