#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Strangers without a ticket, more than half as many as the maximum of sessions, are connected to
# the manager: it has room for them, as for as many clients, and others get in.
. "$(dirname "$0")/functions.sh"
requires tcp
requires tool python3
ulimit -n 8192 2>"$tmp/err" || skip "fewer than 8192 open files: $(cat "$tmp/err")"

MANY=2700
export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
start_pvfs -n 1 --transport pvfs --set filesystem.auth=key \
	--set "filesystem.key_user=$(id -un)"
sed -i "s|transport=[a-z]*|transport=tcp,auth=key,key=$state/key|" "$state/pvfstab"
mkfifo stay
python3 "$e2e/strangers.py" "$(port_of mgr)" "$(conf_value filesystem id)" $MANY <stay \
	>inside 2>&1 & strangers=$!
helpers+=("$strangers")
exec 5>stay
until_true 120 test -s inside
expect ok pvio write /pvfs/file 0 1000 1
expect $MANY cat inside
grep 'no room for a connection' "$(log_of mgr)" && fail "the manager lacks room"
exec 5>&-
wait "$strangers"
