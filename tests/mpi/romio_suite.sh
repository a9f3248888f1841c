#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs ROMIO's own test programs on files that are named "pvfs:...".
. "$(dirname "$0")/functions.sh"
. "$(dirname "$0")/romio_programs.sh"

passed=0
bad=()

judge() {
	if romio_ok "$@"; then
		passed=$((passed + 1))
	else
		bad+=("$3")
		say "$3 failed"
	fi
}

start_pvfs -n 4
cd "$tmp" || exit
romio_lock_free pvfs:/pvfs/romio judge
romio_locking pvfs:/pvfs/romio judge
# large_file writes 4 GiB, so it runs only over local; tests/e2e/big_sparse_file.sh checks such
# offsets over tcp
[ "${PVFS_TEST_SCHEME:-tcp}" != local ] || romio_large pvfs:/pvfs/romio judge

say "$passed of $((passed + ${#bad[@]})) programs found no errors"
[ ${#bad[@]} = 0 ] || fail "${bad[*]}"
