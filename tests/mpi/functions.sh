# SPDX-License-Identifier: BSD-2-Clause
# functions.sh - runs MPI programs on a PVFS file system that is made for the test.  Sourced by
# each test (bash).
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/functions.sh"

: "${LIBMPIO:?the path of libmpio-pvfs.so}"
requires_mpich

# mpi N PROGRAM [ARG...]: runs PROGRAM on N ranks, for a limited time. libmpio-pvfs.so is
# preloaded, so that its MPI_File_* functions are called instead of MPICH's.
mpi() {
	local n=$1
	shift

	timeout 300 "$mpiexec" -n "$n" -genv LD_PRELOAD "$LIBMPIO" "$@"
}

# says_ok N PROGRAM [ARG...]: fails unless the last line of the output is "ok".  The MPI library
# may print messages before it.
says_ok() {
	mpi "$@" >"$tmp/said" 2>&1
	[ "$(tail -n 1 "$tmp/said")" = ok ] && return
	head -n 20 "$tmp/said" | cut -c 1-200 | sed 's/^/    /'
	fail "${*:2} did not say ok"
}
