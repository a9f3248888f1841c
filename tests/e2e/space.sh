#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Space of files: a punched range is freed and is a hole, an allocated range has space, and if the
# disk is too small for it, the size stays unchanged.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

# space_taken: prints the KiB that all objects use
space_taken() {
	local f

	for f in "$state"/iod?/objects/??/??/*; do
		stat -c %b "$f"
	done | awk '{ n += $1 } END { print n / 2 }'
}
# holes FILE: prints pairs DATA:HOLE
holes() {
	python3 - "$1" <<-'END'
		import os, sys
		fd = os.open(sys.argv[1], os.O_RDONLY)
		at, size, out = 0, os.fstat(fd).st_size, []
		while at < size:
		    try:
		        data = os.lseek(fd, at, os.SEEK_DATA)
		    except OSError:
		        break
		    at = os.lseek(fd, data, os.SEEK_HOLE)
		    out.append(f"{data}-{at}")
		print(*out)
	END
}

small_disk "$state/iod1" 16
start_pvfs -n 4
mount_at "$tmp/m"
mib=$((1 << 20))
f=$tmp/m/f

head -c $((4 * mib)) /dev/urandom >"$tmp/data"
must cp "$tmp/data" "$f"
expect 0-$((4 * mib)) holes "$f"
expect 4096 space_taken
# punch the middle half: every iod frees its part
must fallocate --punch-hole -o $mib -l $((2 * mib)) "$f"
expect "0-$mib $((3 * mib))-$((4 * mib))" holes "$f"
expect 2048 space_taken
must cmp -n $mib "$f" "$tmp/data"
must cmp -n $((2 * mib)) -i $mib:0 "$f" /dev/zero
must cmp -i $((3 * mib)) "$f" "$tmp/data"
# allocate it again: it has zeros
must fallocate -o $mib -l $((2 * mib)) "$f"
expect 4096 space_taken
must cmp -n $((2 * mib)) -i $mib:0 "$f" /dev/zero
# space beyond the end is not data of the file, and does not hide holes
must fallocate --keep-size -o $((4 * mib)) -l $((4 * mib)) "$f"
expect $((4 * mib)) stat -c %s "$f"
expect 8192 space_taken
must fallocate --punch-hole -o 0 -l $mib "$f"
first=$(holes "$f")
# an allocated range without data may be reported as data or as a hole
[ "${first%%-*}" -ge $mib ] || fail "data where there is none: $first"
# zero a range in place, also beyond the end
must fallocate --zero-range -o $((7 * mib)) -l $((2 * mib)) "$f"
expect $((9 * mib)) stat -c %s "$f"
must cmp -n $((5 * mib)) -i $((4 * mib)):0 "$f" /dev/zero
must_fail fallocate --collapse-range -o 0 -l $mib "$f"
rm "$f"
gone() { [ -z "$(find "$state"/iod?/objects -type f)" ]; }
until_true 60 gone

# more than the second iod has
must_fail fallocate -l $((100 * mib)) "$f"
grep -q 'No space left' "$tmp/output" || fail "$(cat "$tmp/output")"
expect 0 stat -c %s "$f"
must fallocate -l $((4 * mib)) "$f"
expect $((4 * mib)) stat -c %s "$f"
rm "$f"

# cp finds the holes of its source
truncate -s $((8 * mib)) "$f"
must dd if="$tmp/data" of="$f" bs=64k count=1 seek=40 conv=notrunc status=none
exec 5>>"$f" # who writes: its blocks are asked for
must cp --sparse=auto "$f" "$tmp/copy"
exec 5>&-
must cmp "$f" "$tmp/copy"
unmount "$tmp/m" $daemon
