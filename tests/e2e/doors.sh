#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients with a false identity try every entry point of the servers. Each is rejected, with a log
# line and a count, and honest clients are not affected.
. "$(dirname "$0")/functions.sh"
requires root
requires tcp
requires tool python3
requires tool munged
requires tool setpriv
requires tool unshare
setpriv --reuid=1 --regid=1 --clear-groups unshare --user --map-root-user true \
	2>"$tmp/err" || skip "no user namespaces here: $(tail -n 1 "$tmp/err")"

real=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
export PVFS_AUTH_LIBRARY=$real
EKEYREJECTED=129 EPERM=1
logged() { grep -q -- "$2" "$(log_of "$1")"; }
owner() { pvio stat "$1" | head -n 1 | cut -d ' ' -f 3; }
tab() { # OPTION...: a mount of the servers
	sed "s|pvfs port=\([0-9]*\),transport=[a-z]*|pvfs port=\1,$1|" "$state/pvfstab" \
		>"$tmp/tab"
	chmod 644 "$tmp/tab"
	export PVFSTAB_FILE=$tmp/tab
}
cluster_of() { # NAME: a munged with the cluster's key, on a host of that name
	mkdir -p "$tmp/$1"
	cp -p key "$tmp/$1/key"
	munged --foreground --force --key-file="$tmp/$1/key" --socket="$tmp/$1/socket" \
		--pid-file="$tmp/$1/pid" --log-file="$tmp/$1/log" \
		--seed-file="$tmp/$1/seed" >"$tmp/$1/output" 2>&1 &
	helpers+=("$!")
	until_true 30 munge -s x -S "$tmp/$1/socket" >/dev/null 2>&1
}
servers() { # SED: the servers with other settings
	sed -i "$1" "$state/pvfs.conf"
	must cluster restart
}
try() { python3 "$e2e/doors.py" "$(port_of "$1")" "$fsid" "${@:2}"; }

(umask 077; head -c 128 /dev/urandom >key)
cluster_of here
cluster_of there
start_pvfs -n 2 --transport pvfs --set filesystem.auth=munge \
	--set "filesystem.munge_socket=$tmp/here/socket"
fsid=$(conf_value filesystem id)
munge=transport=tcp,auth=munge,munge_socket=$tmp/here/socket
public pvio
cp "$real" "$tmp/public"
chmod 755 "$tmp/public"
# A program of user 1 that claims to be root.
liar() {
	PVFS_AUTH_LIBRARY=$tmp/public/libpvfs-auth.so \
		as_user 1 1 '' unshare --user --map-root-user "$@"
}
tab transport=local,server_user=65534
expect ok pvio mkdir /pvfs/pub
must pvfs-chmod 1777 /pvfs/pub

# ---- a forged user ----

expect ok liar pvio write /pvfs/pub/local 0 1000 1
expect 1 owner /pvfs/pub/local
expect EACCES liar pvio mkdir /pvfs/his
tab "$munge"
expect ok liar pvio write /pvfs/pub/far 0 1000 1
expect 1 owner /pvfs/pub/far
expect EACCES liar pvio mkdir /pvfs/his
# without authentication: it is believed over tcp, and not over local
servers '/^munge_socket/d; s/^auth = munge/auth = sys/'
tab transport=tcp
expect ok liar pvio write /pvfs/pub/believed 0 1000 1
expect 0 owner /pvfs/pub/believed
tab transport=local,server_user=65534
expect ok liar pvio write /pvfs/pub/known 0 1000 1
expect 1 owner /pvfs/pub/known
servers "s|^auth = sys|auth = munge\nmunge_socket = $tmp/here/socket|"

# ---- another's session ----

tab "$munge"
mkfifo fifo
pvio hold /pvfs/pub/held <fifo >holder 2>&1 & held=$!
helpers+=("$held")
exec 5>fifo
until_true 30 grep -q holding holder
until_true 30 logged mgr "$held:pvio): opens session"
session=$(sed -n "s/.*:$held:pvio): opens session \([0-9a-f]*\),.*/\1/p" "$(log_of mgr)" |
	tail -n 1)
for server in mgr iod.0; do
	expect "$EKEYREJECTED 3" try $server "$session" 3
	expect "$EKEYREJECTED 3" try $server "$session" 3 seals
done
# over local: another user of this host connects with that session number but without its ticket,
# and is himself
guest() {
	as_user 1 1 '' "$tmp/public/pvguest" "local://127.0.0.1:$(port_of "$1")" "$fsid" \
		"$2" 2
}
public pvguest
near=0 far=1 # the iod that has the session, and the other
logged iod0 "opens session $session" || near=1 far=0
logged iod$near "opens session $session" || fail "no iod has the session"
for server in mgr iod.$near; do
	expect $EPERM guest $server "$session"
	expect 0 guest $server 0
done
# at an iod that does not know the session yet, the number becomes his own session's
expect 0 guest iod.$far "$session"
logged iod$far "opens session $session, uid 1," || fail "he is not himself"
grep 'connection lost' holder && fail "he ended its connection"
# ... and at a manager that has only its row
stand_still "$held"
must cluster kill-mgr
must cluster start-mgr 5>&-
expect "$EKEYREJECTED 1" try mgr "$session" 1 seals
expect $EPERM guest mgr "$session"
kill -CONT "$held"
exec 5>&-
wait "$held" || fail "he disturbed it: $(cat holder)"

# ---- a credential at another manager ----

forge() {
	PVFS_AUTH_LIBRARY=$PVFS_BUILD/tests/e2e/libpvforge.so PVFS_FORGE_REAL=$real \
		env "$1=$2" pvio write /pvfs/pub/none 0 10 1
}
must_fail forge PVFS_FORGE_SAVE "$tmp/word"
servers "s|^munge_socket = .*|munge_socket = $tmp/there/socket|" # it never saw that one
must_fail forge PVFS_FORGE_WORD "$tmp/word"
grep -q 'does not take what this program shows for true' "$tmp/output" ||
	fail "$(cat "$tmp/output")"
until_true 30 logged mgr 'was made for another session'
expect ok pvio check /pvfs/pub/far 0 1000 1

# ---- counted by kind ----

head -c 3000000 /dev/urandom >data
copy_on & copies=$!
before=$(cat "$(log_of mgr)" "$(log_of iod0)" | grep -c ': refused (')
began=$SECONDS
expect "$EKEYREJECTED 150" try mgr 0 150
expect "$EKEYREJECTED 150" try iod.0 0 150
expect "$EKEYREJECTED 150" try iod.0 0 150 seals
# from a session of nobody he gets no more
expect "0 50" try mgr 0 50 seals
lines=$(($(cat "$(log_of mgr)" "$(log_of iod0)" | grep -c ': refused (') - before))
[ $lines -le $((3 * (SECONDS - began + 2))) ] || fail "$lines lines in $((SECONDS - began)) s"
touch enough
wait $copies || fail "who works noticed it"
until_true 30 metric_above 149 mgr refused 'not sealed'
until_true 30 metric_above 0 0 refused 'no ticket'
