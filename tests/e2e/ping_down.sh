#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-ping tells a server that is not there from one that does not answer,
# and both from an address that is none.
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
kill -STOP "$(cluster pid 0)"
must_fail pvfs-ping -t 2000
kill -CONT "$(cluster pid 0)"
grep -q "^iod 0 .*down.*timed out" "$tmp/output" ||
	fail "iod 0: $(cat "$tmp/output")"

# a host that nobody knows is named once
echo 'no-such-host.invalid:/ /pvfs pvfs timeout=2 0 0' >"$tmp/pvfstab"
must_fail env PVFSTAB_FILE="$tmp/pvfstab" pvfs-ls /pvfs
[ "$(grep -c 'host "no-such-host.invalid"' "$tmp/output")" = 1 ] ||
	fail "a host: $(cat "$tmp/output")"
