#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs the project's own MPI programs: hints, file names with colons, and the benchmarks, which
# check the data that they read.
. "$(dirname "$0")/functions.sh"

# bench PROGRAM [OPTION...]: runs a benchmark and checks that it prints valid JSON
bench() {
	mpi 4 "$MPI_BENCH" -r 1 "$@" "pvfs:/pvfs/$1" >"$tmp/json" ||
		fail "mpi_bench $*"
	python3 -m json.tool "$tmp/json" >/dev/null || fail "JSON of $*"
}

start_pvfs -n 4
expect ok mpi 2 "$MPI_PROGRAMS/hints" pvfs:/pvfs/hints
cd "$tmp" || fail "$tmp"
: >1
expect ok mpi 1 "$MPI_PROGRAMS/colon" pvfs:/pvfs/run:1
bench tile -w list,sieving,pieces
bench tile -w list,collective -e 2 -m
bench bt -w list,sieving,collective -g 16 -s 2 -m
bench block -w list,native -s 2
bench meta -n 2
