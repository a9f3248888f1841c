# SPDX-License-Identifier: BSD-2-Clause
# romio.sh - MPI-IO over verbs: mpi_bench with noncontiguous patterns, and those of ROMIO's own
# test programs that take no locks and write less than 4 GiB.  Sourced by run.sh.
. "$here/servers.sh"
. "$top/tests/mpi/romio_programs.sh"

ROMIO_TESTS=$build/tests/mpi
# a program that hangs is ended after this, so that the others still run
program_seconds=40

mpi() {
	local n=$1
	shift

	timeout -k 5 $program_seconds mpiexec.mpich -n "$n" \
		-genv LD_PRELOAD "$build/romio-adio/libmpio-pvfs.so" "$@"
}

# romio_source: prints the folder of ROMIO's source that the build was configured with.
romio_source() {
	sed -n 's/.*"name": "romio_source", "value": "\([^"]*\)".*/\1/p' \
		"$build/meson-info/intro-buildoptions.json"
}

over_verbs() {
	servers_start && timeout 30 pvfs-ping >"$tmp/ping" || return 1
	cat "$tmp/ping"
	[ "$(grep -c ' up .* verbs ' "$tmp/ping")" = 4 ]
}

# one RANKS WANTED PROGRAM [ARG...]: runs one of ROMIO's programs as a test.  Uses at most two
# ranks where the program allows it, because an emulated machine takes seconds to start a rank.
one() {
	local n=$(($1 > 2 ? 2 : $1))

	case $3 in hindexed|darray_read) n=4 ;; esac
	step "ROMIO's $3" romio_ok $n "${@:2}"
}

says_ok() {
	mpi "$@" >"$tmp/said" 2>&1
	[ "$(tail -n 1 "$tmp/said")" = ok ] || { cat "$tmp/said"; return 1; }
}

# pattern RANKS PATTERN [OPTION...]: runs mpi_bench, which checks the data that it reads.
pattern() {
	mpi "$1" "$build/tests/bench/mpi/mpi_bench" "$2" -r 1 "${@:3}" \
		"pvfs:/pvfs/$2" | grep mb_per_s
}

part_run() {
	ROMIO_SOURCE=$(romio_source)
	step "servers for MPI-IO over verbs" over_verbs
	cd "$tmp" || exit
	romio_lock_free pvfs:/pvfs/romio one
	step "striping hints" says_ok 2 "$ROMIO_TESTS/hints" pvfs:/pvfs/hints
	step "tiles, gaps in memory" pattern 2 tile -w list -e 2 -m
	step "BT-IO, four ranks" pattern 4 bt -w list,collective -g 32 -s 2 -m
	cat "$state"/log/*.log | grep -E 'error|warn' | head -n 20
}
