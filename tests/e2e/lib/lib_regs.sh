#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The registrations of list calls: one for an allocation or a group of neighbours, or one for each
# piece (PVFS over InfiniBand, ICPP 2003, section 5: 768 pieces).
. "$(dirname "$0")/../functions.sh"

export PVFS_LIST_PLACE=1024
for transport in tcp local; do
	start_pvfs -n 3 --transport $transport
	must "$PVFS_BUILD/tests/e2e/lib/list_regs" /pvfs/file
	must "$PVFS_BUILD/tests/e2e/lib/list_regs" /pvfs/file alone
	state=$tmp/next
done

# an invalid value is reported, with the value that is used instead
complains() {
	env "$1=$2" pvfs-cat /pvfs/file 2>"$tmp/err" >"$tmp/out"
	grep -qF -e "$1=$2: want $3" "$tmp/err" || fail "$1=$2: $(cat "$tmp/err")"
}
for place in '' -1 1k 0x 99999999999999999999 2000000000; do
	complains PVFS_LIST_PLACE "$place" '0 to 1073741824 bytes; using 1024'
done
complains PVFS_LIST_GROUP maybe 'on or off; using on'
