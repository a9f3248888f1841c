#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A full disk at one iod is ENOSPC at the client and affects nothing else.  Writes succeed again
# when there is space.
. "$(dirname "$0")/functions.sh"

small_disk "$state/iod1" 8
start_pvfs -n 3

expect ok pvio write /pvfs/before 0 1000000 1
must_fail pvio write /pvfs/fills 0 100000000 2
expect ENOSPC tail -n 1 "$tmp/output"
must_fail pvio write /pvfs/fills2 0 100000000 2
expect ENOSPC tail -n 1 "$tmp/output"

# other iods, and files that do not need iod 1, work
expect ok pvio check /pvfs/before 0 1000000 1
expect ok pvio mkdir /pvfs/dir
must pvfs-cp -q -b 2 -n 2 "$PVFSTAB_FILE" /pvfs/dir/elsewhere
must cmp "$PVFSTAB_FILE" <(pvfs-cat /pvfs/dir/elsewhere)
# the tool reports it, too
head -c 60M /dev/zero | tr '\0' x >"$tmp/in"
must_fail pvfs-cp "$tmp/in" /pvfs/copy
grep -q 'No space left' "$tmp/output" || fail "$(cat "$tmp/output")"

# writes succeed again when there is space
for f in fills fills2 copy; do
	pvio unlink /pvfs/$f >/dev/null
done
writes() { [ "$(pvio write /pvfs/again 0 10000000 5)" = ok ]; }
until_true 30 writes
expect ok pvio check /pvfs/again 0 10000000 5
expect ok pvio check /pvfs/before 0 1000000 1
