#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-test -c, alone and under mpiexec, writes and reads back its data, and prints the lines that
# its users parse.
. "$(dirname "$0")/functions.sh"

requires tool pvfs-test
start_pvfs -n 4

# run N COMMAND...: the command succeeds with N processes, and prints so
run() {
	local n=$1 code
	shift

	timeout 240 "$@" >"$tmp/output" 2>&1
	code=$?
	[ $code = 0 ] || cat "$tmp/output"
	[ $code = 0 ] || fail "exit $code: $*"
	for line in "nr_procs = $n" '# total_size = ' 'Write bandwidth = ' \
		'Read bandwidth = ' 'Correctness test passed'; do
		grep -q "$line" "$tmp/output" && continue
		cat "$tmp/output"
		fail "$*: no line '$line'"
	done
}
run 1 pvfs-test -c -u -b 1000000 -i 3 -f /pvfs/alone
run 1 pvfs-test -c -u -b 1000000 -i 2 -s 4096 -n 2 -f /pvfs/files
# -v: the POSIX calls, on an ordinary file
run 1 pvfs-test -c -u -b 100000 -i 2 -v -f "$tmp/vfs"
# under the mpiexec of another MPI, each process would be a test of its own of the same file
for size in OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_SIZE=1; do
	env $size pvfs-test -c -u -b 4096 -f /pvfs/alone >"$tmp/output" 2>&1
	code=$?
	[ $size,$code = OMPI_COMM_WORLD_SIZE=1,0 ] || grep -q "started 2 processes.*mpiexec.mpich" "$tmp/output" ||
		fail "$size: $code, $(<"$tmp/output")"
done
requires_mpich # so far it ran alone
# other ports than those that clients of other tests use
export MPIEXEC_PORT_RANGE=9100:9999
for n in 2 4; do
	run $n "$mpiexec" -n $n "$(command -v pvfs-test)" -c -u -b 262144 -i 3 \
		-f /pvfs/mpi$n
done
