#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The manager stops after a mount's program has proved its identity, with and without sealing. If a
# call starts while others wait for the manager, it fails at the same time as they do.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
requires tcp

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
logged() { grep -q "$1" "$log"; }

for seal in none auth; do
	state=$tmp/$seal m=$tmp/m.$seal
	start_pvfs -n 1 --transport pvfs --set filesystem.auth=key \
		--set filesystem.key_user=root --set filesystem.seal=$seal
	sed -i "s|transport=[a-z]*|transport=tcp,auth=key,key=$state/key,timeout=2|" "$state/pvfstab"
	log=$state/log/fuse${#shown[@]}.log
	mount_at "$m"
	must mkdir "$m/before"
	stand_still "$(cluster pid mgr)"
	for i in 1 2 3 4; do must_fail mkdir "$m/never$i"; done
	# at the latest the third call fails so, before its own deadline
	logged 'calls fail at once until it does' || fail "$seal: $(cat "$log")"
	kill -CONT "$(cluster pid mgr)"
	until_true 30 mkdir "$m/behind"
	until_true 30 logged 'answers again'
	unmount "$m" $daemon
done
