#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Writes and reads files with random nested data types, on PVFS and on a local file system.  The
# program checks file and memory against the definition of the types.  TYPES_SEED chooses other
# types, TYPES_ROUNDS another number of rounds.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 4
seed=${TYPES_SEED:-1}
rounds=${TYPES_ROUNDS:-1000}
says_ok 2 "$MPI_PROGRAMS/types" "$seed" "$rounds" pvfs:/pvfs/two "ufs:$tmp/two"
says_ok 3 "$MPI_PROGRAMS/types" "$seed" $((rounds / 8)) pvfs:/pvfs/three \
	"ufs:$tmp/three"
