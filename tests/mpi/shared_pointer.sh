#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Ranks append records at the shared file pointer, independently and in order.  Each record must
# have a place of its own, no record may be missing, and no hidden file may stay behind.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 4
says_ok 4 "$MPI_PROGRAMS/shared_pointer" pvfs:/pvfs/shared
expect "$(printf ".\n..\nshared")" pvfs-ls -a /pvfs
# on ordinary files ROMIO's own shared file pointers must pass the same checks
says_ok 4 "$MPI_PROGRAMS/shared_pointer" "$tmp/ordinary"
