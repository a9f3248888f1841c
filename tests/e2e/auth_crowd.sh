#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# More than 256 clients prove their identity at once, while munged is stopped. No client is rejected
# because of the others. A client that repeats its request uses no place of another client.
. "$(dirname "$0")/functions.sh"
requires root
requires tcp
requires tool python3
requires tool munged

EAGAIN=11 EHOSTDOWN=112
export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
(umask 077; head -c 128 /dev/urandom >key)
munged --foreground --force --key-file="$tmp/key" --socket="$tmp/socket" \
	--pid-file="$tmp/munged.pid" --log-file="$tmp/munged.log" \
	--seed-file="$tmp/seed" >"$tmp/munged.output" 2>&1 & munged=$!
helpers+=("$munged")
until_true 30 munge -s x -S "$tmp/socket" >/dev/null 2>&1
start_pvfs -n 1 --transport pvfs --set filesystem.auth=munge \
	--set "filesystem.munge_socket=$tmp/socket"
until_true 30 grep -q 'munged of this host answers' "$(log_of mgr)"
sed "s|pvfs port=\([0-9]*\),transport=[a-z]*|pvfs port=\1,transport=tcp,auth=munge,munge_socket=$tmp/socket|" \
	"$state/pvfstab" >"$tmp/tab"
export PVFSTAB_FILE=$tmp/tab
crowd() { python3 "$e2e/auth_crowd.py" "$(port_of mgr)" "$(conf_value filesystem id)" "$@"; }

stand_still "$munged"
crowd 1 4 >again 2>&1 & again=$!

# ---- more than 256 at once ----

crowd 400 1 >crowd || fail "$(cat crowd)"
grep -qx 'CHALLENGE 0 400' crowd || fail "$(cat crowd)"
grep -qx "AUTH $EHOSTDOWN 400" crowd || fail "not all were heard: $(cat crowd)"

# ---- one that asks again and again ----

wait $again || fail "$(cat again)"
grep -qx "CHALLENGE $EAGAIN 1" again || fail "$(cat again)"
grep -qx "AUTH $EHOSTDOWN 2" again || fail "$(cat again)"

kill -CONT "$munged"
expect ok pvio write /pvfs/after 0 1000 1
