#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Appends go behind the end, however the file came to have it; as root and as another
# user, who has no rights to the file any more.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

public lib_append
start_pvfs -n 3 --set mgr.session_timeout=2
chmod 644 "$PVFSTAB_FILE"
chmod 755 "$state" "$tmp"
expect ok pvio chmod 777 /pvfs
expect ok lib_append /pvfs
[ "$(id -u)" != 0 ] || expect ok as_user 12345 12345 '' lib_append /pvfs

# The place of one whose session ends before it writes is given to others.
must pvio append /pvfs/log 1 100 first
for i in 0 1 2; do must cluster kill-iod $i; done
PVFS_TIMEOUT=300 pvio append /pvfs/log 1 100 late >/dev/null 2>"$tmp/late" &
late=$!
helpers+=($late)
until_true 60 grep -q 'iod [0-9].*again' "$tmp/late"
stand_still $late
cluster kill-mgr && cluster start-mgr || fail "no manager"
until_true 60 grep -q 'did not come back' "$(log_of mgr)"
for i in 0 1 2; do must cluster start-iod $i; done
# who asks for the size makes it known, without what is not there
must pvio stat /pvfs/log >/dev/null
must pvio append /pvfs/log 1 100 other
kill -CONT $late
wait $late || fail "the late one failed: $(cat "$tmp/late")"
pvfs-cat /pvfs/log >"$tmp/log" || fail "it cannot be read"
for who in first other late; do
	must grep -aq "$who 0" "$tmp/log"
done
