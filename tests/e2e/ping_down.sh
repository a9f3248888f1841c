#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-ping distinguishes a server that does not run from one that does not reply, and both from an
# invalid address.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 2
must pvfs-ping >"$tmp/up"
[ "$(grep -c " up " "$tmp/up")" = 3 ] || fail "not all are up"

must_fail pvfs-ping nowhere
grep -q '"nowhere" is no address of a server: it has no port; write' \
	"$tmp/output" || fail "nowhere: $(cat "$tmp/output")"
grep -q "^server *nowhere *wrong" "$tmp/output" ||
	fail "nowhere: $(cat "$tmp/output")"

must cluster stop-iod 1
must_fail pvfs-ping
grep -q "^iod 1 .*:$(port_of iod.1) .*down.*Connection refused" "$tmp/output" ||
	fail "iod 1: $(cat "$tmp/output")"
[ "$(grep -c " up " "$tmp/output")" = 2 ] || fail "the others are not up"

must cluster stop-mgr
must_fail pvfs-ping
grep -q "^mgr .*:$(port_of mgr) .*down.*Connection refused" "$tmp/output" ||
	fail "mgr: $(cat "$tmp/output")"

must cluster start
stand_still "$(cluster pid 0)"
must_fail pvfs-ping -t 2000
cp "$tmp/output" "$tmp/pinged"
must_fail env PVFS_TIMEOUT=2 pvfs-df /pvfs
kill -CONT "$(cluster pid 0)"
grep -q "^iod 0 .*down.*timed out" "$tmp/pinged" ||
	fail "iod 0: $(cat "$tmp/pinged")"
! grep -q Success "$tmp/pinged" "$tmp/output" ||
	fail "a cause that is none: $(cat "$tmp/pinged" "$tmp/output")"

# a new manager without its iods waits, names them, and logs few lines
must cluster stop
rm -r "$state"/mgr "$state"/iod?
"$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" >"$tmp/mgr.log" 2>&1 &
helpers+=($!)
until_true 20 grep -q 'waits until all of its 2 iods' "$tmp/mgr.log"
waits() { pvfs-ping >"$tmp/output" 2>&1; grep -q "^mgr .* waits .*heard from all iods" "$tmp/output"; }
until_true 20 waits
must_fail env PVFS_TIMEOUT=3 pvfs-ls /pvfs
grep -q 'no answer to MOUNT .*takes no clients yet' "$tmp/output" ||
	fail "a manager that waits: $(cat "$tmp/output")"
until_true 60 grep -q 'still waits for 2 of 2 iods: iod 0 (.*), iod 1 (.*): until then' "$tmp/mgr.log"
[ "$(wc -l <"$tmp/mgr.log")" -le 7 ] || fail "talks: $(cat "$tmp/mgr.log")"

# an unknown host is named once
echo 'no-such-host.invalid:/ /pvfs pvfs timeout=2 0 0' >"$tmp/pvfstab"
must_fail env PVFSTAB_FILE="$tmp/pvfstab" pvfs-ls /pvfs
[ "$(grep -c 'host "no-such-host.invalid"' "$tmp/output")" = 1 ] ||
	fail "a host: $(cat "$tmp/output")"
