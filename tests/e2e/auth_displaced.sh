#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# More clients connect than the manager has places for, while one client has not yet proved its
# identity. That client loses its session, and is served in a new session, within its deadline.
. "$(dirname "$0")/functions.sh"
requires root
requires tcp
requires tool python3
requires tool munged

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
(umask 077; head -c 128 /dev/urandom >key)
munged --foreground --force --key-file="$tmp/key" --socket="$tmp/socket" \
	--pid-file="$tmp/munged.pid" --log-file="$tmp/munged.log" \
	--seed-file="$tmp/seed" >"$tmp/munged.output" 2>&1 & munged=$!
helpers+=("$munged")
until_true 30 munge -s x -S "$tmp/socket" >/dev/null 2>&1
start_pvfs -n 1 --transport pvfs --set filesystem.auth=munge \
	--set "filesystem.munge_socket=$tmp/socket" --set mgr.max_sessions=64
until_true 30 grep -q 'munged of this host answers' "$(log_of mgr)"
sed "s|pvfs port=\([0-9]*\),transport=[a-z]*|pvfs port=\1,transport=tcp,auth=munge,munge_socket=$tmp/socket|" \
	"$state/pvfstab" >"$tmp/tab"
export PVFSTAB_FILE=$tmp/tab

stand_still "$munged"
pvio write /pvfs/file 0 1000 1 >out 2>&1 & client=$!
helpers+=("$client")
until_true 30 grep -q ':pvio): opens session' "$(log_of mgr)"
python3 "$e2e/auth_crowd.py" "$(port_of mgr)" "$(conf_value filesystem id)" 100 1 \
	>crowd 2>&1 & crowd=$!
helpers+=("$crowd")
until_true 30 grep -q 'all are there' crowd
kill -CONT "$munged"
wait "$client" || fail "not served: $(cat out)"
grep -q 'no place at the manager' out || fail "it kept its session: $(cat out)"
expect ok pvio check /pvfs/file 0 1000 1
