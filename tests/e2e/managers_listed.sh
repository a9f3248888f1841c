#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs and tools work with a mount that lists several managers: one is the manager, one has no
# address, and at the others nothing listens.
. "$(dirname "$0")/functions.sh"

requires tcp
start_pvfs -n 2
port=$(port_of mgr)

# list HOSTS: a mount of these managers, with the options of the previous mount
list() {
	sed "s|^[^ ]*:/|$1:/|" "$state/pvfstab" >"$tmp/pvfstab"
	export PVFSTAB_FILE=$tmp/pvfstab
}

uses_it() {
	must pvfs-mkdir "/pvfs/$1"
	must pvfs-cp "$0" "/pvfs/$1/copy"
	must pvfs-cat "/pvfs/$1/copy" >"$tmp/output"
	cmp -s "$tmp/output" "$0" || fail "$1: the content differs"
	must pvfs-ping >"$tmp/output" 2>&1
	! grep -q 'host "no-such-host' "$tmp/output" || fail "$1: $(cat "$tmp/output")"
	grep -q "^mgr .* up .*127.0.0.1:$port leads" "$tmp/output" ||
		fail "$1: pvfs-ping: $(cat "$tmp/output")"
	[ "$(grep -c '^iod . .* up ' "$tmp/output")" = 2 ] ||
		fail "$1: pvfs-ping: $(cat "$tmp/output")"
	must pvfs-df /pvfs >/dev/null
	must pvfs-stats /pvfs >/dev/null
	must pvfs-evict --list /pvfs >/dev/null
	must pvfs-top -b -n 1 /pvfs >/dev/null
	must pvfs-rm -r "/pvfs/$1"
}

list "127.0.0.1:$port,127.0.0.1:1,127.0.0.1:2"
uses_it first
list "no-such-host.invalid,127.0.0.1:1,127.0.0.1:$port"
uses_it last

pvfs-doctor >"$tmp/output" 2>&1
! grep -q 'does not answer\|nobody listens\|refuses' "$tmp/output" ||
	fail "pvfs-doctor: $(cat "$tmp/output")"

list "no-such-host.invalid,127.0.0.1:1,127.0.0.1:2"
must_fail env PVFS_TIMEOUT=2 pvfs-ls /pvfs
[ "$(grep -c 'host "no-such-host.invalid"' "$tmp/output")" = 1 ] ||
	fail "a host: $(cat "$tmp/output")"
must_fail pvfs-ping -t 2000
grep -q "^mgr .* down " "$tmp/output" || fail "pvfs-ping: $(cat "$tmp/output")"
must_fail pvfs-ping "127.0.0.1:$port,nowhere"
grep -q '"nowhere" is no address of a server' "$tmp/output" ||
	fail "nowhere: $(cat "$tmp/output")"
must pvfs-ping "127.0.0.1:1,127.0.0.1:$port" >/dev/null
