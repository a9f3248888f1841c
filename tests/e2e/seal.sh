#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sealed connections over tcp: data arrives as it was sent, and with encrypt nobody can read it.  An
# attacker in the middle breaks connections and no more, and cannot disable sealing.
. "$(dirname "$0")/functions.sh"
requires root
requires tcp
requires tool python3

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
pid() { cluster pid "$1"; }
logged() { grep -q -- "$2" "$(log_of "$1")"; }
said() { grep -q -- "$1" "$tmp/output" || fail "not said: $1: $(cat "$tmp/output")"; }
# tab OPTION...: a mount over tcp with the key; port=N is the port of the manager
tab() {
	sed "s|pvfs port=\([0-9]*\),transport=[a-z]*|pvfs port=\1,transport=tcp,auth=key,key=$state/key,$1|" \
		"$state/pvfstab" >"$tmp/tab"
	export PVFSTAB_FILE=$tmp/tab
}
# A mount whose manager is behind an attacker.
tab_middle() {
	tab "$1"
	sed -i "s|port=$(port_of mgr),|port=$port,|" "$tmp/tab"
}
sets() { # SEAL: of the servers, started anew
	sed -i "/^seal = /d; s/^auth = key/&\nseal = $1/" "$state/pvfs.conf"
	must cluster restart
}
seals() { # SEAL...: those that pvfs-ping shows
	must pvfs-ping -j | grep -o '"seal": *"[a-z]*"' | grep -o '[a-z]*"$' | tr -d '"' |
		sort -u | tr '\n' ' '
}
heard() { # SEAL: how often the text of a file passes
	local text sniffer

	text="heard-$RANDOM-$RANDOM-$1"
	for _ in {1..20000}; do echo "$text"; done >plain
	rm -f count
	python3 "$e2e/seal_middle.py" --sniff "$text" count & sniffer=$!
	helpers+=("$sniffer")
	until_true 30 [ -s count ]
	must pvfs-cp -q plain /pvfs/plain
	must pvfs-cp -q /pvfs/plain back
	must cmp plain back
	kill "$sniffer"
	wait "$sniffer"
	cat count
}
# Traffic of other tests may push it out of the sniffer's buffer.
is_heard() {
	for _ in {1..10}; do
		[ "$(heard "$1")" = 0 ] || return 0
	done
	return 1
}
tree() { # a tree goes there and back
	rm -rf back.d
	must pvfs-cp -r -q tree "/pvfs/$1"
	must pvfs-cp -r -q "/pvfs/$1" back.d
	must diff -r tree back.d
}
violations() { # CAUSE: what the mgr has counted
	PVFSTAB_FILE=$tmp/straight metric mgr seal_violations "$1"
}
violated() { [ "$(violations "$1")" -gt 0 ]; }

mkdir tree
for i in {1..60}; do head -c $((i * 3000)) /dev/urandom >"tree/$i"; done

start_pvfs -n 2 --set filesystem.auth=key --set filesystem.key_user=root

# ---- auth, the default ----

tab ""
expect "auth " seals
tree auth
is_heard auth || fail "the sniffer hears nothing that is in the clear"
tab "seal=auth"
expect "auth " seals

# ---- a client that asks for more gets it ----

tab "seal=encrypt"
expect "encrypt " seals
tree more
expect 0 heard more

# ---- encrypt ----

sets encrypt
tab ""
expect "encrypt " seals
tree encrypt
expect 0 heard encrypt

# ---- only a program that seals much loads libcrypto ----

loaded() { LD_DEBUG=files "$@" 2>&1 | grep -q 'file=.*/libpvfs-seal.so .*dynamically loaded'; }
moves() { loaded pvio write /pvfs/much 0 100000000 1; }
if grep -qw aes /proc/cpuinfo && grep -qw pclmulqdq /proc/cpuinfo; then
	expect ok pvio write /pvfs/little 0 100000 1
	loaded pvio check /pvfs/little 0 100000 1 && fail "for little"
	until_true 60 moves
fi
expect ok pvio write /pvfs/much 0 100000000 1
expect ok pvio check /pvfs/much 0 100000000 1

# ---- somebody in the middle of a client and the manager ----

sets auth
echo pass >deed
python3 "$e2e/seal_middle.py" "$(port_of mgr)" deed >port & helpers+=("$!")
until_true 30 [ -s port ]
port=$(cat port)
tab ""
cp "$tmp/tab" straight
tab_middle ""
tree middle
for deed in "flip|a record that was changed" "repeat|a record that was repeated" \
	"reorder|a record that was repeated" "inject|a record that was changed" \
	"bare|data that is not sealed" "cut|an end in the middle"; do
	# calls in flight succeed when the attacker stops
	echo "${deed%%|*}" >deed
	pvfs-cp -r -q tree "/pvfs/${deed%%|*}" 2>"$tmp/err" & copy=$!
	until_true 30 violated "${deed#*|}"
	echo pass >deed
	wait $copy || fail "${deed%%|*}: the copy did not go on: $(cat "$tmp/err")"
	rm -rf back.d
	must pvfs-cp -r -q "/pvfs/${deed%%|*}" back.d
	must diff -r tree back.d
done
until_true 30 logged mgr 'changes data between the two hosts'

# ---- nobody is talked out of it ----

echo strip >deed
for least in "" "seal=auth"; do
	tab_middle "timeout=5,$least"
	must_fail pvfs-ls /pvfs
	said 'or wants the connection sealed'
done
tab_middle "timeout=5"
must_fail pvfs-ls /pvfs
until_true 30 logged mgr 'does not seal the connection'
for deed in unask unhere; do
	echo $deed >deed
	must_fail pvfs-ls /pvfs
	said 'does not take what this program shows for true'
done

# ---- messages before the seal ----

sessions_resumed() { grep -c 'resumes session' "$(log_of mgr)"; }
tab_middle "timeout=20"
echo pass >deed
before=$(sessions_resumed)
must pvfs-ls /pvfs
[ "$(sessions_resumed)" = "$before" ] || fail "a client came twice"
echo apart >deed
must pvfs-ls /pvfs
[ "$(sessions_resumed)" -gt "$before" ] || fail "a client that cannot be sealed as it is came once"
for deed in hail hello reply; do
	before=$(violations "a record that was changed")
	echo $deed >deed
	pvfs-ls /pvfs >out 2>&1 & client=$!
	more() { [ "$(violations "a record that was changed")" -gt "$before" ]; }
	until_true 30 more
	echo pass >deed
	wait $client || fail "$deed: not served then: $(cat out)"
done
echo pass >deed
must pvfs-ls /pvfs

# ---- without a seal the middle changes any message ----

changed() { # a folder is made through who changes its name
	echo change >deed
	must pvfs-cp -r -q made "/pvfs/heard$1"
	echo pass >deed
	pvfs-ls /pvfs | grep -q "^wrong$1"
}
mkdir made
tab_middle ""
changed .sealed && fail "he changed what is sealed"
sets none
tab_middle ""
changed .bare || fail "he changes nothing: $(pvfs-ls /pvfs)"

# ---- nobody's requests, without a seal, and proofs that are not asked for ----

python3 "$e2e/nobody_asks.py" "$(port_of mgr)" "$(conf_value filesystem id)" >out 2>&1
diff - out >&2 <<-END || fail "nobody is not refused: $(cat out)"
	PING 126
	STATFS 126
	CHALLENGE 0
	the kernel's word 95
	CHALLENGE 0
	MUNGE's 95
	CHALLENGE 0
	a false key's 126
	STATFS 126
END

# ---- less than a client asks for ----

tab ""
expect "none " seals
tree none
tab "timeout=5,seal=encrypt"
must_fail pvfs-ls /pvfs
said 'have \[filesystem\] seal = none, and .* asks for seal=encrypt at least'
tab "timeout=5"
sed -i 's|auth=key,key=[^,]*,|seal=auth,|' "$tmp/tab"
must_fail pvfs-ls /pvfs
said 'seal= needs keys'

# ---- an iod that does not seal, and a manager that wants it ----

sets auth
sed 's/^seal = .*/seal = none/' "$state/pvfs.conf" >iod.conf
must cluster stop-iod 1
"$PVFS_BUILD/server/pvfs-iod" --config iod.conf --index 1 >iod.log 2>&1 & other=$!
helpers+=("$other")
until_true 30 logged mgr 'iod 1 .*refused: it does not seal connections, but this host requires it'
kill "$other"
wait "$other"
must cluster start-iod 1
tab ""
until_true 30 pvfs-ls /pvfs
tree again

# ---- servers alone: with a key and clients that prove nothing ----

sed -i '/^key_user/d; s/^auth = .*/auth = sys/; s/^seal = .*/seal = encrypt/' "$state/pvfs.conf"
must cluster restart
cp "$state/pvfstab" "$tmp/tab"
expect "none " seals
tree servers
