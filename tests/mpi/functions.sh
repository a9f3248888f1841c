# SPDX-License-Identifier: BSD-2-Clause
# functions.sh - MPI programs on a file system of their own; sourced by each
# test (bash), after which $mpi runs programs with libmpio-pvfs.so.
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/functions.sh"

: "${LIBMPIO:?the path of libmpio-pvfs.so}"
requires_mpich

# mpi N PROGRAM [ARG...]: bounded, with our MPI_File_* ahead of MPICH's.
mpi() {
	local n=$1
	shift

	timeout 300 "$mpiexec" -n "$n" -genv LD_PRELOAD "$LIBMPIO" "$@"
}

# says_ok N PROGRAM [ARG...]: fails unless its last line is "ok"; the MPI
# library may have had something to say before.
says_ok() {
	mpi "$@" >"$tmp/said" 2>&1
	[ "$(tail -n 1 "$tmp/said")" = ok ] && return
	head -n 20 "$tmp/said" | cut -c 1-200 | sed 's/^/    /'
	fail "${*:2} did not say ok"
}
