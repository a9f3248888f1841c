#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A file of E2E_BIG_MIB MiB with dense and sparse parts is copied in and out with checksums.  It
# survives a restart, and its holes take no space.
. "$(dirname "$0")/functions.sh"

mib=${E2E_BIG_MIB:-512}
requires space $((mib / 1024 / 2 + 1)) "$tmp"

# Each eighth of the file has dense data in its first sixteenth, then a few isolated blocks at odd
# offsets across stripes; the rest is a hole.
make_file() {
	local part=$((mib / 8)) k at

	truncate -s "${mib}M" "$1"
	for k in 0 1 2 3 4 5 6 7; do
		at=$((k * part))
		head -c "$(((part + 15) / 16))M" <(bytes_of $k) |
			dd of="$1" bs=1M seek=$at conv=notrunc status=none
		printf 'edge %s' $k | dd of="$1" bs=1 conv=notrunc status=none \
			seek=$(((at + part / 2) * 1048576 + 65535))
	done
	printf end | dd of="$1" bs=1 conv=notrunc status=none \
		seek=$((mib * 1048576 - 3))
}

# Reproducible bytes that cannot be compressed and are not zeros.
bytes_of() {
	seed=$1 awk 'BEGIN {
		srand(ENVIRON["seed"])
		for (i = 0; i < 4096; i++)
			s = s sprintf("%c", 33 + int(rand() * 90))
		for (;;)
			printf "%s%d", s, n++
	}' 2>/dev/null
}

make_file "$tmp/in"
dense=$(du -m "$tmp/in" | cut -f1)
say "$mib MiB, $dense MiB of them dense"
start_pvfs -n 4
must pvfs-cp -p --verify "$tmp/in" /pvfs/big
say "in after $((SECONDS - started_at)) s"
expect "$(stat -c %s "$tmp/in")" \
	bash -c "pvio stat /pvfs/big | awk 'NR == 1 { print \$5 }'"
stored=$(du -scm "$state"/iod*/objects | awk 'END { print $1 }')
[ "$stored" -le $((dense * 11 / 10 + 16)) ] ||
	fail "the holes take space: $stored MiB stored for $dense MiB"
restart_pvfs
must pvfs-cp -p --verify /pvfs/big "$tmp/out"
say "out after $((SECONDS - started_at)) s"
must cmp "$tmp/in" "$tmp/out"
[ "$(stat -c %y "$tmp/in")" = "$(stat -c %y "$tmp/out")" ] || fail "mtime"
[ "$(du -m "$tmp/out" | cut -f1)" -le $((dense * 11 / 10 + 16)) ] ||
	fail "pvfs-cp filled the holes"
must pvfs-rm /pvfs/big
