#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients with auth = munge. Each acts as the user that runs it, in the cluster whose key the
# manager's munged has. A credential for another session is rejected.
. "$(dirname "$0")/functions.sh"
requires root
requires tool munged
requires tool python3
requires tool munge

real=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
export PVFS_AUTH_LIBRARY=$real
logged() { grep -q -- "$2" "$(log_of "$1")"; }
owner() { pvfs-stat -j "$1" | grep -o '"uid": *[0-9]*' | grep -o '[0-9]*$'; }
# tab OPTION...: writes a pvfstab with these options
tab() {
	sed "s|pvfs port=\([0-9]*\),transport=[a-z]*|pvfs port=\1,$1|" "$state/pvfstab" \
		>"$tmp/tab"
	export PVFSTAB_FILE=$tmp/tab
}
# refused TEXT COMMAND...: the command fails, and prints TEXT
refused() {
	local text=$1
	shift

	must_fail "$@"
	grep -q -- "$text" "$tmp/output" || fail "no \"$text\": $(cat "$tmp/output")"
}

# ---- munged of a cluster: key, socket and all in that folder ----

answers() { munge -s x -S "$1/socket" >/dev/null 2>&1; }
# cluster_of NAME: starts a munged of that cluster; its pid is in $munged
cluster_of() {
	local dir=$tmp/$1

	mkdir -p "$dir"
	[ -e "$dir/key" ] || (umask 077; head -c 128 /dev/urandom >"$dir/key")
	munged --foreground --force --key-file="$dir/key" --socket="$dir/socket" \
		--pid-file="$dir/pid" --log-file="$dir/log" --seed-file="$dir/seed" \
		--num-threads=4 >"$dir/output" 2>&1 &
	munged=$!
	helpers+=("$munged")
	until_true 30 answers "$dir"
}
end_munged() {
	must kill "$1"
	wait "$1"
}
cluster_of ours; ours=$munged
cluster_of theirs; theirs=$munged
ours() { echo "transport=tcp,auth=munge,munge_socket=$tmp/ours/socket"; }

start_pvfs -n 2 --transport pvfs --set filesystem.auth=munge \
	--set "filesystem.munge_socket=$tmp/ours/socket"
until_true 30 logged mgr 'munged of this host answers'
logged mgr 'auth = sys' && fail "the manager says that it is open"

# ---- pvfs-doctor proves itself as pvfs.conf has it, over each transport ----

for scheme in pvfs tcp; do
	sed "s|= pvfs://|= $scheme://|" "$state/pvfs.conf" >"$tmp/doctor.conf"
	"$PVFS_BUILD/client/tools/pvfs-doctor" --skip mounted -c "$tmp/doctor.conf" >"$tmp/output" 2>&1
	grep -q ' checks: ' "$tmp/output" || fail "pvfs-doctor: $(cat "$tmp/output")"
	grep -E 'refuses this client|Required key|Key was|take the key' "$tmp/output" &&
		fail "pvfs-doctor, $scheme: no credential, or another key"
done

# ---- on this host, by the kernel's word: munged is not asked ----

tab transport=local
expect ok pvio write /pvfs/root 0 100000 1
expect 0 owner /pvfs/root
must pvfs-chmod 1777 /pvfs

# ---- from elsewhere ----

tab transport=tcp
refused 'write auth=munge, or auth=key' pvio write /pvfs/none 0 10 1
tab "$(ours)"
expect ok pvio write /pvfs/rooted 0 1000000 1
expect 0 owner /pvfs/rooted
expect ok pvio check /pvfs/rooted 0 1000000 1
must pvfs-ping

# a plain user has the groups that the manager's host knows
public pvio
cp "$real" "$tmp/public"
chmod 755 "$tmp/public"
plain() {
	PVFS_AUTH_LIBRARY=$tmp/public/libpvfs-auth.so as_user 1 1 '' "$@"
}
expect ok plain pvio write /pvfs/plain 0 100000 1
expect 1 owner /pvfs/plain
must pvfs-chmod 600 /pvfs/rooted
must_fail plain pvio check /pvfs/rooted 0 1000000 1

# the option has no effect over local
tab "transport=local,auth=munge,munge_socket=$tmp/none"
expect ok pvio write /pvfs/local 0 100000 1

# ---- another cluster ----

tab "transport=tcp,auth=munge,munge_socket=$tmp/theirs/socket"
refused 'no ticket: its key is not that of the servers' pvio write /pvfs/none 0 10 1
until_true 30 logged mgr 'made with another key'

# ---- words that were made for something else ----

tab "$(ours)"
forge() {
	PVFS_AUTH_LIBRARY=$PVFS_BUILD/tests/e2e/libpvforge.so PVFS_FORGE_REAL=$real \
		env "$1=$2" pvio write /pvfs/none 0 10 1
}
munge_ours() { munge -S "$tmp/ours/socket" "$@"; }
false_word='does not take what this program shows for true'

# a credential of another session that was never decoded
must_fail forge PVFS_FORGE_SAVE "$tmp/word"
refused "$false_word" forge PVFS_FORGE_WORD "$tmp/word"
until_true 30 logged mgr 'was made for another session'
# the same credential for a second time
refused 'was shown before' forge PVFS_FORGE_WORD "$tmp/word"
expect ok forge PVFS_FORGE_TWICE "$tmp/word"
refused 'was shown before' forge PVFS_FORGE_WORD "$tmp/word"
until_true 30 logged mgr 'the credential was shown before'
# a credential of this session on another connection; a connected client cannot take it unsealed
python3 "$e2e/auth_taken.py" "$(port_of mgr)" "$(conf_value filesystem id)" \
	"$tmp/ours/socket" >out 2>&1 || fail "$(cat out)"
expect $'its own 0\nbare 126\ncaught 11' cat out
# a credential with other content
munge_ours -s 'pay to the bearer' >word
refused "$false_word" forge PVFS_FORGE_WORD "$tmp/word"
munge_ours -n >word
refused "$false_word" forge PVFS_FORGE_WORD "$tmp/word"
echo 'MUNGE:bm90aGluZw==:' >word
must_fail forge PVFS_FORGE_WORD "$tmp/word"
echo nothing >word
must_fail forge PVFS_FORGE_WORD "$tmp/word"
: >word
must_fail forge PVFS_FORGE_WORD "$tmp/word"
# an expired credential, and one for another user
munge_ours -s x --ttl=1 >word
sleep 3
refused 'has another time than this one' forge PVFS_FORGE_WORD "$tmp/word"
until_true 30 logged mgr 'the credential is too old'
munge_ours -s x --restrict-uid=1 >word
must_fail forge PVFS_FORGE_WORD "$tmp/word"
until_true 30 logged mgr "only for another user"

# the rejections are counted by their reasons
metric_above 1 mgr ticket_refusals 'the credential was shown before' &&
	metric_is 1 mgr ticket_refusals 'the credential is too old' ||
	fail "not counted: $(pvfs-stats -i)"

# ---- munged is unavailable ----

tab "transport=tcp,auth=munge,munge_socket=$tmp/none"
refused 'munge on this host: munged does not run' pvio write /pvfs/none 0 10 1
refused 'no ticket: munged on this host does not answer' pvio write /pvfs/none 0 10 1

# the manager's munged is unavailable: the client waits, and reports it at its deadline
sed -i "s|^munge_socket = .*|munge_socket = $tmp/gone/socket|" "$state/pvfs.conf"
must cluster restart
until_true 30 logged mgr 'get no ticket yet: munged does not run'
tab "$(ours)"
refused "munged on the manager's host does not answer" pvio write /pvfs/none 0 10 1
until_true 30 logged mgr 'munged does not run'
mkdir gone
must cp -p ours/key gone/key
cluster_of gone; gone=$munged
expect ok pvio write /pvfs/back 0 100000 1

# ---- munged stands still ----

stand_still "$gone"
export PVFS_TIMEOUT=10
refused "munged on the manager's host does not answer" pvio write /pvfs/none 0 10 1
until_true 30 logged mgr 'munged does not answer'
# many clients wait at a time, and each gets the error; a client that needs no munged is served
many=()
for i in $(seq 20); do
	pvio write /pvfs/none 0 10 1 >"out.$i" 2>&1 & many+=($!)
done
sed 's/transport=[a-z]*/transport=local/' "$state/pvfstab" >local
expect ok env PVFSTAB_FILE="$tmp/local" pvio check /pvfs/back 0 100000 1
for i in "${many[@]}"; do wait "$i" && fail "one got a ticket of nobody"; done
for i in $(seq 20); do
	grep -q 'no ticket' "out.$i" || fail "$(cat "out.$i")"
done
must kill -CONT "$gone"
unset PVFS_TIMEOUT
tab "$(ours)"
expect ok pvio check /pvfs/back 0 100000 1
stand_still "$ours"
PVFS_TIMEOUT=10 refused 'munge on this host: munged does not answer' \
	pvio write /pvfs/none 0 10 1
must kill -CONT "$ours"
expect ok pvio check /pvfs/back 0 100000 1

# ---- a client with a ticket needs no munged; servers are stopped and started ----

head -c 3000000 /dev/urandom >data
copy() {
	local i

	for i in $(seq 1000); do
		[ ! -e enough ] || return 0
		pvfs-cp -q --verify data "/pvfs/copy$((i % 4))" || return 1
	done
}
copy & copies=$!
for server in 0 1; do
	must cluster kill-iod $server
	must cluster start-iod $server
done
must cluster kill-mgr
must cluster start-mgr
touch enough
wait $copies || fail "the copies did not survive"

# ---- no downgrade ----

sed -i '/^munge_socket/d; s/^auth = munge/auth = sys/' "$state/pvfs.conf"
must cluster restart
refused 'asks for auth=munge at least' pvio write /pvfs/none 0 10 1
sed -i "s|^auth = sys|auth = munge\nmunge_socket = $tmp/ours/socket|" "$state/pvfs.conf"
must cluster restart
expect ok pvio check /pvfs/back 0 100000 1

# ---- a mount of root, which acts for the other users of its host ----

mounted() {
	local m=$tmp/m daemon

	mkdir "$m"
	"$PVFS_BUILD/client/fuse/pvfs-fuse" /pvfs "$m" -f >fuse.log 2>&1 &
	daemon=$!
	helpers+=("$daemon")
	until_true 30 mountpoint -q "$m"
	must cmp -n 100000 "$m/back" "$m/back"
	must setpriv --reuid=1 --regid=1 --clear-groups -- touch "$m/his"
	expect 1 stat -c %u "$m/his"
	must_fail setpriv --reuid=1 --regid=1 --clear-groups -- cat "$m/rooted"
	until_true 30 umount "$m"
	wait "$daemon" || fail "pvfs-fuse: $?: $(cat fuse.log)"
}
if [ -c /dev/fuse ] && [ -x "$PVFS_BUILD/client/fuse/pvfs-fuse" ]; then mounted; fi

end_munged "$theirs"
end_munged "$gone"
end_munged "$ours"
