#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The manager replies to AUTH after the client has given up. The next call of the client still has a
# session, a ticket, and a sealed connection. No server reports that connection as attacked.
. "$(dirname "$0")/functions.sh"
requires root
requires tcp
requires tool munged
requires tool munge

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so PVFS_TIMEOUT=2
(umask 077; head -c 128 /dev/urandom >key)
# munged_of NAME: starts a munged, with the key of the cluster; its pid is in $munged
munged_of() {
	mkdir "$1"
	munged --foreground --force --key-file="$tmp/key" --socket="$tmp/$1/socket" \
		--pid-file="$tmp/$1/pid" --log-file="$tmp/$1/log" --seed-file="$tmp/$1/seed" \
		>"$tmp/$1/output" 2>&1 &
	munged=$!
	helpers+=("$munged")
	until_true 30 munge -s x -S "$tmp/$1/socket" >/dev/null 2>&1
}
munged_of theirs; theirs=$munged
munged_of ours

# begin NAME: starts pvio, whose pid is in $client. twice NAME: waits until its first call has
# failed. Then pvio waits for a byte.
declare -A end
begin() {
	mkfifo "$1"
	rm -f "$1.said"
	PVFS_LOG=info pvio twice "/pvfs/$1" <"$1" >"$1.said" 2>"$1.err" & client=$!
	helpers+=("$client")
	exec {end[$1]}>"$1"
}
twice() {
	begin "$1"
	until_true 60 grep -qx ETIMEDOUT "$1.said"
}
has_ended() { [ "$(wc -l <"$1.said")" = 2 ]; }

for seal in none auth encrypt; do
	state=$tmp/$seal
	start_pvfs -n 1 --transport pvfs --set filesystem.auth=munge \
		--set filesystem.seal=$seal --set "filesystem.munge_socket=$tmp/theirs/socket"
	sed -i "s|transport=[a-z]*|transport=tcp,auth=munge,munge_socket=$tmp/ours/socket|" \
		"$state/pvfstab"
	until_true 30 grep -q 'munged of this host answers' "$(log_of mgr)"
	must pvio write /pvfs/first 0 1000 1
	# the manager replies before the client tries again
	stand_still $theirs
	twice a.$seal
	kill -CONT $theirs
	must pvio write /pvfs/second 0 1000 1
	echo >&"${end[a.$seal]}"
	until_true 60 has_ended a.$seal
	# the manager replies while the client tries again
	stand_still $theirs
	twice b.$seal
	echo >&"${end[b.$seal]}"
	kill -CONT $theirs
	until_true 60 has_ended b.$seal
	# the manager replies before the client looks at the clock; the client may also read the
	# reply first
	stand_still $theirs
	begin c.$seal
	sleep 1
	stand_still $client
	kill -CONT $theirs
	must pvio write /pvfs/third 0 1000 1
	sleep 2
	kill -CONT $client
	echo >&"${end[c.$seal]}"
	until_true 60 has_ended c.$seal
	for which in a.$seal b.$seal c.$seal; do
		tail -n 1 $which.said | grep -qx ok || fail "$which: $(cat $which.said $which.err)"
	done
	grep -E 'sealed connection|in the middle|refused \(' "$state"/log/*.log ?.$seal.err >"$tmp/output" &&
		fail "$seal: $(cat "$tmp/output")"
	cluster stop
done
