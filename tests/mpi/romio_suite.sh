#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# ROMIO's own programs on "pvfs:" files, as its runtests calls them.  A
# program's exit status says nothing: it has to print "No Errors".
. "$(dirname "$0")/functions.sh"

passed=0
bad=()

# judge N PROGRAM WANTED [ARG...]
judge() {
	local n=$1 program=$2 wanted=$3
	shift 3

	if mpi "$n" "$ROMIO_TESTS/$program" "$@" >"$tmp/out" 2>&1 &&
		grep -q "$wanted" "$tmp/out"; then
		passed=$((passed + 1))
		return
	fi
	bad+=("$program")
	say "$program says:"
	head -n 20 "$tmp/out" | cut -c 1-200 | sed 's/^/    /'
}

# suite N PROGRAM [ARG...]
suite() { judge "$1" "$2" 'No Errors' "${@:3}"; }

start_pvfs -n 4
cd "$tmp" || exit
file=pvfs:/pvfs/romio

for program in simple async async-multiple atomicity coll_test excl file_info \
	noncontig_coll2 misc shared_fp ordered_fp split_coll psimple; do
	suite 4 $program -fname $file.$program
done
suite 4 aggregation1 -h -f $file.aggregation1
for program in aggregation2 hindexed darray_read; do
	suite 4 $program $file.$program
done
for program in i_noncontig noncontig noncontig_coll; do
	suite 2 $program -fname $file.$program
done
suite 2 types_with_zeros $file.zeros
for program in error status; do
	suite 1 $program -fname $file.$program
done
suite 1 syshints "$ROMIO_SOURCE/test/test_hintfile"
suite 4 creat_excl -fname $file.creat_excl
suite 4 big_extents $file.big_extents
judge 1 large_file 'Data read back is correct' -fname $file.large

say "$passed of $((passed + ${#bad[@]})) programs found no errors"
[ ${#bad[@]} = 0 ] || fail "${bad[*]}"
