#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A borrower writes from memory that must be paged in from the same iod, while others write to the
# object by message. The one thread of the iod does not wait for the kernel's lock on the object.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 1 --set iod.threads=1
for how in short long; do
	PVFS_TIMEOUT=20 expect ok timeout 60 lib_direct_paged /pvfs "$(cluster pid 0)" $how
done
