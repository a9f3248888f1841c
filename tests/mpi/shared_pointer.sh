#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Shared file pointers, independent and ordered: each record has a place of its own, none is left
# out, and no hidden file stays.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 4
says_ok 4 "$MPI_PROGRAMS/shared_pointer" pvfs:/pvfs/shared
expect "$(printf ".\n..\nshared")" pvfs-ls -a /pvfs
# of ordinary files ROMIO's own
says_ok 4 "$MPI_PROGRAMS/shared_pointer" "$tmp/ordinary"
