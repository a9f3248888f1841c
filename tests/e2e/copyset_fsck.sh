#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-fsck knows the rings of files: it removes objects of copysets that do not belong to their
# file, and no others.
. "$(dirname "$0")/functions.sh"
. "$e2e/copysets.sh"

requires tcp

# fsck_is STATUS TEXT [OPTION...]: checks the exit status and the problems
fsck_is() {
	local want=$1 text=$2 code
	shift 2

	timeout 300 "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf" "$@" \
		>"$tmp/fsck" 2>"$tmp/fsck.err"
	code=$?
	[ $code = "$want" ] && [ "$(sed '$d' "$tmp/fsck" | LC_ALL=C sort)" = "$text" ] ||
		fail "exit $code: $(cat "$tmp/fsck" "$tmp/fsck.err")"
}

# plant IOD GROUP NAME: makes an object of this group beside object NAME of an iod
plant() {
	local object

	object=$(find "$state"/iod*/objects -name "$3" -printf '%P\n' -quit)
	[ -n "$object" ] || fail "no object $3"
	mkdir -p "$state/iod$1/objects/$(dirname "$object")"
	: >"$state/iod$1/objects/$object-$(printf %08x "$2")"
}
objects_of_groups() { find "$state"/iod*/objects -name '*-*' | wc -l; }

start_pvfs -n 3
expect ok pvio write /pvfs/single 0 300000 1
single=$(pvfs-stat /pvfs/single | awk '$1 == "handle" { print $2 }')
copysets ring 6
copysets move 1027 1

# The file has one object of three consecutive groups, in the folder that object_path_leaf() gives.
read -r handle first < <("$PVFS_BUILD/tests/e2e/mgr/make_file" "$(conf_value filesystem id)" \
	"$(port_of mgr)" file)
leaf=$(python3 -c "
n = (0x$handle * 0x9e3779b97f4a7c15 & (1 << 64) - 1) >> 52
print('%02x/%02x' % (n // 64, n % 64))")
for k in 0 1 2; do
	group=$((1024 + (first - 1024 + k) % 6))
	iod=$(((group - 1024) % 3))
	[ $group != 1027 ] || iod=1
	mkdir -p "$state/iod$iod/objects/$leaf"
	: >"$state/iod$iod/objects/$leaf/$handle-$(printf %08x $group)"
done
fsck_is 0 ''

# another iod than the member, a group that the file does not use, a file of ring 0
other=$((1024 + (first - 1024 + 3) % 6))
mkdir -p "$state"/iod{0,1,2}/objects/"$leaf"
: >"$state/iod$(((iod + 1) % 3))/objects/$leaf/$handle-$(printf %08x $group)"
: >"$state/iod0/objects/$leaf/$handle-$(printf %08x $other)"
plant 0 1024 "$single"
number=$(printf %u "0x$handle")
problems="stray: object $(printf %u "0x$single") of copyset 1024 at iod 0: its file is not on this iod
stray: object $number of copyset $group at iod $(((iod + 1) % 3)): its file is not on this iod
stray: object $number of copyset $other at iod 0: its file is not on this iod"
fsck_is 4 "$(LC_ALL=C sort <<<"$problems")"
fsck_is 1 "$(sed 's/$/; removed/' <<<"$problems" | LC_ALL=C sort)" -r
fsck_is 0 ''
expect 3 objects_of_groups

# an object that is not in its group's row any more
copysets move $group $(((iod + 1) % 3))
fsck_is 4 "stray: object $number of copyset $group at iod $iod: its file is not on this iod"
