# SPDX-License-Identifier: BSD-2-Clause
# romio_programs.sh - runs ROMIO's own test programs with the arguments of its script runtests.
# Sourced (bash) by scripts that define $ROMIO_TESTS, $ROMIO_SOURCE and a function mpi RANKS
# PROGRAM [ARG...].
#
# romio_lock_free FILE RUN, romio_locking FILE RUN and romio_large FILE RUN each run one group of
# the programs: they call RUN RANKS WANTED PROGRAM [ARG...] for each.  The names of the programs'
# files begin with FILE.

# romio_ok RANKS WANTED PROGRAM [ARG...]: checks that PROGRAM prints WANTED.  A successful exit
# status is not enough, because the programs also exit so after errors.
romio_ok() {
	mpi "$1" "$ROMIO_TESTS/$3" "${@:4}" >"$tmp/out" 2>&1 &&
		grep -q "$2" "$tmp/out" && { [ "$3" != file_info ] ||
			romio_info_ok; } && return
	head -n 20 "$tmp/out" | cut -c 1-200 | sed 's/^/    /'
	return 1
}

# Checks that file_info complains only about striping_factor.  It demands the value 0 there, which
# it asked for, because it knows the defaults of some drivers only.  PVFS shows the file's actual
# number of servers.
romio_info_ok() {
	local it='striping_factor is [1-9][0-9]*; should be 0'

	grep -q "$it" "$tmp/out" &&
		! sed "s/$it//g" "$tmp/out" | grep 'should be'
}

romio_lock_free() {
	local file=$1 run=$2 ok='No Errors' program

	for program in simple async async-multiple coll_test excl \
		noncontig_coll2 split_coll psimple creat_excl; do
		$run 4 "$ok" $program -fname "$file.$program"
	done
	$run 4 'Found 1 errors' file_info -v -fname "$file.file_info"
	$run 4 "$ok" aggregation1 -h -f "$file.aggregation1"
	for program in aggregation2 hindexed darray_read big_extents; do
		$run 4 "$ok" $program "$file.$program"
	done
	for program in i_noncontig noncontig noncontig_coll; do
		$run 2 "$ok" $program -fname "$file.$program"
	done
	$run 2 "$ok" types_with_zeros "$file.zeros"
	for program in error status; do
		$run 1 "$ok" $program -fname "$file.$program"
	done
	$run 1 "$ok" syshints "$ROMIO_SOURCE/test/test_hintfile"
}

# The program that writes 4 GiB.
romio_large() {
	"$2" 1 'Data read back is correct' large_file -fname "$1.large"
}

# The programs that use atomic mode or shared file pointers, which need locks.
romio_locking() {
	local file=$1 run=$2 program

	for program in atomicity misc shared_fp ordered_fp; do
		$run 4 'No Errors' $program -fname "$file.$program"
	done
}
