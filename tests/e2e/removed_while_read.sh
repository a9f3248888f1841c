#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A reader whose file was removed gets an error, and not the end of the file or a hole in place of
# the data.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 3
mkfifo "$tmp/fifo"
have() { [ "$(objects)" = "$1" ]; }
held() { grep -q holding "$tmp/out"; }

# late LEN WANTED COMMAND...: prints the result of a reader that has /pvfs/file open, after the
# command, when N objects are left
late() {
	local len=$1 want=$2 left=$3
	shift 3

	: >"$tmp/out"
	pvio late /pvfs/file "$len" <"$tmp/fifo" >"$tmp/out" 2>&1 &
	helpers=($!)
	exec 5>"$tmp/fifo"
	until_true 30 held
	expect ok "$@"
	until_true 30 have "$left"
	exec 5>&-
	wait "${helpers[0]}"
	helpers=()
	grep -qx "$want" "$tmp/out" ||
		fail "$len bytes after $*: $(cat "$tmp/out"), not $want"
}

for len in 10 1000000; do
	expect ok pvio write /pvfs/file 0 1000000 1
	late $len ESTALE 0 pvio unlink /pvfs/file
done

# a truncated or sparse file is not affected
expect ok pvio write /pvfs/file 0 1000000 1
late 1000000 0 3 pvio truncate /pvfs/file 0
late 1000000 200000 3 pvio truncate /pvfs/file 200000
expect ok pvio unlink /pvfs/file
until_true 30 have 0
expect ok pvio write /pvfs/file 500000 1 1
late 500000 500000 1 pvio access /pvfs/file 4
