#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A client that lives longer than its ticket gets another one, and its session stays: also
# at servers that were started behind the end of the first one.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
requires root

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
life=4

start_pvfs -n 2 --transport pvfs --set filesystem.auth=key --set filesystem.key_user=root \
	--set filesystem.ticket_life=$life --set filesystem.capabilities=on
sed -i "s|transport=[a-z]*|transport=tcp,auth=key,key=$state/key|" "$state/pvfstab"
mount_at "$tmp/m" -o cache=none
sessions() { grep -c "(.*pvfs-fuse.*): opens session" "$(log_of mgr)"; }
expect 1 sessions

# an open file of that session
exec 6>"$tmp/m/file"
must eval 'echo before >&6'
sleep $((life + 1))
for server in 0 1; do
	must cluster kill-iod $server
	must cluster start-iod $server 6>&-
done
must cluster kill-mgr
must cluster start-mgr 6>&-
must eval 'echo behind >&6'
exec 6>&-
expect "before
behind" cat "$tmp/m/file"

expect 1 sessions
grep -h "refused (\|does not get" "$state"/log/*.log >"$tmp/output" &&
	fail "$(cat "$tmp/output")"
unmount "$tmp/m" $daemon
