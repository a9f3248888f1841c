#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Atomic mode over pieces: readers never see half of a write.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 4
says_ok 4 "$MPI_PROGRAMS/atomic_mode" pvfs:/pvfs/atomic
