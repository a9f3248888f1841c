#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Random nested data types, on "pvfs:" files and on ordinary ones, in one
# program.  TYPES_SEED and TYPES_ROUNDS choose others.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 4
seed=${TYPES_SEED:-1}
rounds=${TYPES_ROUNDS:-1000}
says_ok 2 "$MPI_PROGRAMS/types" "$seed" "$rounds" pvfs:/pvfs/two "ufs:$tmp/two"
says_ok 3 "$MPI_PROGRAMS/types" "$seed" $((rounds / 8)) pvfs:/pvfs/three \
	"ufs:$tmp/three"
