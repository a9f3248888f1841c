#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# In MPI's atomic mode a reader never sees half of a write, even if both consist of many pieces.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 4
says_ok 4 "$MPI_PROGRAMS/atomic_mode" pvfs:/pvfs/atomic
