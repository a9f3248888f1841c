# SPDX-License-Identifier: BSD-2-Clause
# trust.sh - a round whose clients prove their identity over sealed connections
# (HISTORY_TRUST=munge): munged, and the settings of servers and mounts; sourced (bash).

munged=

begin_trust() {
	local at=$dir/munge

	[ "${HISTORY_TRUST:-}" = munge ] || return 0
	mkdir "$at" && (umask 077; head -c 128 /dev/urandom >"$at/key") || return 1
	munged --foreground --force --key-file="$at/key" --socket="$at/socket" \
		--pid-file="$at/pid" --log-file="$dir/log/munged.log" \
		--seed-file="$at/seed" </dev/null >/dev/null 2>&1 &
	munged=$!
	until munge -n -S "$at/socket" >/dev/null 2>&1; do
		ours $munged || return 1
		pause 0.05
	done
	fs_set="auth=munge seal=auth munge_socket=$at/socket"
	tab_set=",auth=munge,munge_socket=$at/socket"
	export PVFS_AUTH_LIBRARY=$build/client/lib/auth/libpvfs-auth.so
}

end_trust() { [ -z "$munged" ] || tell KILL "$munged"; }
