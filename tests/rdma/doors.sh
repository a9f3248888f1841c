# SPDX-License-Identifier: BSD-2-Clause
# doors.sh - checks that servers refuse clients over verbs that pretend to be somebody else.
# Sourced by onesided.sh.

EKEYREJECTED=129
auth_library=$build/client/lib/auth/libpvfs-auth.so
munged=

doors_end() { [ -z "$munged" ] || kill "$munged"; }

begin_munged() {
	mkdir "$tmp/munge" && (umask 077; head -c 128 /dev/urandom >"$tmp/munge/key")
	munged --foreground --force --key-file="$tmp/munge/key" \
		--socket="$tmp/munge/socket" --pid-file="$tmp/munge/pid" \
		--log-file="$tmp/munge/log" --seed-file="$tmp/munge/seed" \
		>"$tmp/munge/output" 2>&1 &
	munged=$!
	until munge -n -S "$tmp/munge/socket" >/dev/null 2>&1; do
		kill -0 $munged || return 1
		sleep 0.1
	done
}

# Copies a program and the libraries that it needs to where user 1 can read them.
publish() {
	chmod 755 "$tmp" "$tmp/munge" && mkdir "$tmp/public" &&
		cp "$(command -v pvio)" "$build/client/lib/libpvfs.so.1" \
			"$auth_library" "$tmp/public"
}

doors_servers() {
	cluster stop && rm -rf "$state" && begin_munged && publish || return 1
	cluster start -n 1 --port 0 --set mgr.fabric=strict:verbs \
		--set iod.fabric=strict:verbs --set filesystem.auth=munge \
		--set filesystem.capabilities=on \
		--set "filesystem.munge_socket=$tmp/munge/socket" || return 1
	mount_of "fabric=strict:verbs,auth=munge,munge_socket=$tmp/munge/socket"
	pvio mkdir /pvfs/pub && pvfs-chmod 1777 /pvfs/pub &&
		[ "$(timeout 30 pvfs-ping | grep -c ' up .* verbs ')" = 2 ]
}

# mount_of OPTIONS: lets all following clients use a pvfstab with OPTIONS added.
mount_of() {
	sed "s|pvfs port=|pvfs $1,port=|" "$state/pvfstab" >"$tmp/public/tab"
	export PVFSTAB_FILE=$tmp/public/tab PVFS_AUTH_LIBRARY=$auth_library
}

# liar COMMAND...: runs COMMAND as user 1 in a user namespace in which it is root, so that it
# claims to be root.  The virtual machine's chroot allows no user namespace; there COMMAND claims
# to be user 1.
liar() {
	local lie='unshare --user --map-root-user'

	[ "${RXE_VM:-}" != 1 ] || lie=
	setpriv --reuid=1 --regid=1 --clear-groups env PATH="$tmp/public:$PATH" \
		LD_LIBRARY_PATH="$tmp/public" \
		PVFS_AUTH_LIBRARY="$tmp/public/libpvfs-auth.so" \
		$lie "$@"
}

forged_user() {
	liar pvio write /pvfs/pub/his 0 100000 1 || return 1
	[ "$(pvio stat /pvfs/pub/his | head -n 1 | cut -d ' ' -f 3)" = 1 ] ||
		{ echo "the file is another user's"; return 1; }
	[ "$(liar pvio mkdir /pvfs/forged)" = EACCES ]
}

# A client shows the credential that was made for another session, and must be refused.
# libpvforge.so saves the credential of the first program and shows it in the second.
forged_word() {
	export PVFS_FORGE_REAL=$auth_library
	export PVFS_AUTH_LIBRARY=$build/tests/e2e/libpvforge.so

	PVFS_FORGE_SAVE=$tmp/word pvio write /pvfs/pub/none 0 10 1 >/dev/null 2>&1
	PVFS_FORGE_WORD=$tmp/word pvio write /pvfs/pub/none 0 10 1 >"$tmp/said" 2>&1
	export PVFS_AUTH_LIBRARY=$auth_library
	grep 'does not take what this program shows' "$tmp/said" && return
	cat "$tmp/said"
	return 1
}

# guest SERVER SESSION: prints the status of the reply that SERVER gives to a client without a
# ticket.
guest() {
	local at

	at=$(sed -n "/^\[$1\]/,\$s/^address *= *pvfs:/verbs:/p" "$state/pvfs.conf" |
		head -n 1)
	pvguest "$at" "$(sed -n 's/^id *= *//p' "$state/pvfs.conf" | head -n 1)" \
		"$2" 2 2>>"$tmp/guests"
}

no_ticket() { [ "$(guest iod.0 0)" = $EKEYREJECTED ]; }

another_session() {
	local held session server said try rc=0

	mkfifo "$tmp/fifo"
	pvio hold /pvfs/pub/held <"$tmp/fifo" >"$tmp/holder" 2>&1 & held=$!
	exec 7>"$tmp/fifo"
	for try in {1..100}; do
		session=$(sed -n "s/.*:$held:pvio): opens session \([0-9a-f]*\),.*/\1/p" \
			"$(log_of mgr)" | tail -n 1)
		[ -n "$session" ] && grep -q holding "$tmp/holder" && break
		sleep 0.1
	done
	for server in mgr iod.0; do
		said=$(guest $server "$session")
		echo "$server answers $said to session $session"
		[ "$said" = $EKEYREJECTED ] || rc=1
	done
	exec 7>&-
	wait $held || rc=1
	! grep 'connection lost' "$tmp/holder" && [ $rc = 0 ]
}

# A client asks an iod for a file that it has not opened.  The program starts the iod itself.
capabilities() {
	CK_FORK=no IODC_SCHEME=verbs timeout 120 "$build/tests/e2e/iod/iod_caps"
}

doors_run() {
	step "doors over verbs: capabilities" capabilities
	command -v munged >/dev/null || return
	step "doors over verbs: servers that ask who one is" doors_servers
	step "doors over verbs: a forged user" forged_user
	step "doors over verbs: another's credential" forged_word
	step "doors over verbs: no ticket" no_ticket
	step "doors over verbs: another's session" another_session
	doors_end
}
