# SPDX-License-Identifier: BSD-2-Clause
# functions.sh - MPI programs on a file system of their own; sourced by each
# test (bash), after which $mpi runs programs with libmpio-pvfs.so.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/functions.sh"

: "${LIBMPIO:?the path of libmpio-pvfs.so}"
requires tool mpiexec

# mpi N PROGRAM [ARG...]: bounded, with our MPI_File_* ahead of MPICH's.
mpi() {
	local n=$1
	shift

	timeout 120 mpiexec -n "$n" -genv LD_PRELOAD "$LIBMPIO" "$@"
}
