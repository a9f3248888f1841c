#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# If the configuration is wrong, the daemon exits immediately and prints the file, the line and the
# remedy. It never guesses.
. "$(dirname "$0")/functions.sh"

pvfs_mgr=$PVFS_BUILD/mgr/pvfs-mgr pvfs_iod=$PVFS_BUILD/server/pvfs-iod
conf=$tmp/pvfs.conf

good() {
	cat <<-END
	[filesystem]
	id = 0123456789abcdef
	stripe_size = 64K
	stripe_count = 0

	[mgr]
	address = tcp://127.0.0.1:0
	storage = $tmp/mgr

	[iod]
	sync = off

	[iod.0]
	address = tcp://127.0.0.1:0
	storage = $tmp/iod0

	[iod.1]
	address = tcp://127.0.0.1:0
	storage = $tmp/iod1
	END
}

# refuse WHO LINE WORDS SED-EDIT: with the edited file, WHO exits with an error that contains
# FILE:LINE (if LINE is '-', only FILE; if empty, neither) and every one of WORDS.
refuse() {
	local who=$1 line=$2 words=$3 edit=$4 word program code

	good | sed "$edit" >"$conf"
	case $who in
	mgr)	program=("$pvfs_mgr" --config "$conf") ;;
	iod)	program=("$pvfs_iod" --config "$conf" --index "${index:-1}") ;;
	esac
	timeout 20 "${program[@]}" >"$tmp/output" 2>&1
	code=$?
	[ $code != 124 ] || fail "$who runs with: $edit"
	[ $code != 0 ] && [ $code -lt 128 ] || fail "$who: exit $code: $edit"
	case $line in
	'')	;;
	-)	line=$conf ;;
	*)	line=$conf:$line ;;
	esac
	grep -qF -- "$line" "$tmp/output" ||
		fail "$who, $edit: no '$line' in: $(cat "$tmp/output")"
	for word in $words; do
		grep -qF -- "$word" "$tmp/output" ||
			fail "$who, $edit: no '$word' in: $(cat "$tmp/output")"
	done
	[ "$(wc -l <"$tmp/output")" -le 4 ] ||
		fail "$who, $edit: said more than once: $(cat "$tmp/output")"
}
both() {
	refuse mgr "$@"
	refuse iod "$@"
}

both 2 'filesytem' 's/^\[filesystem\]/[filesytem]/'
both 2 'id' 's/^id = .*/id = 0123/'
both 2 'id' 's/^id = .*/id = not-hexadecimal!/'
both 2 'id' 's/^id = .*/id = 0x23456789abcdef/'
both 2 'id' 's/^id = .*/id = -123456789abcdef/'
both - 'id' '/^id = /d'
both 2 'idd' 's/^id =/idd =/'
both - 'max_sessions 8' 's/^sync = off/&\nmax_sessions = 1/;s/^\[mgr\]/&\nmax_sessions = 7/'
# the names of all allowed settings are printed
both 15 'rdma_bulk_tc dead_peer address storage' 's/^storage = .*iod0/storag = x/'
both 3 '' 's/^stripe_size = .*/stripe_size 64K/'
refuse mgr 3 'stripe_size' 's/^stripe_size = .*/stripe_size = 64Q/'
refuse mgr 3 'stripe_size' 's/^stripe_size = .*/stripe_size = 7/'
refuse mgr 4 'stripe_count' 's/^stripe_count = .*/stripe_count = 9/'
refuse mgr 7 'address' 's|^address = .*|address = 127.0.0.1|;10,$s/x/x/'
both 7 'address' '7s|tcp:|gopher:|'
both 18 'address' '18s|tcp:|gopher:|'
both 11 'rdma_sll' 's/^sync = .*/rdma_sll = 3/'
refuse iod 11 'rdma_sl 0 to 15' 's/^sync = .*/rdma_sl = 16/'
refuse mgr 8 'rdma_gid index address' '8s/.*/rdma_gid = 10.0.0/'
refuse iod 11 'inline_max SIZE NAME:SIZE' 's/^sync = .*/inline_max = ib:4K/'
refuse iod 11 'inline_max once' 's|^sync = .*|inline_max = tcp:4K/tcp:8K|'
refuse iod 11 'fast_size' 's/^sync = .*/fast_size = 1.5M/'
refuse iod 11 'rendezvous server adaptive' 's/^sync = .*/rendezvous = both/'
refuse iod 11 'rendezvous_above' 's/^sync = .*/rendezvous_above = -1/'
refuse iod 11 'dead_peer' 's/^sync = .*/dead_peer = 0/'
refuse iod 11 'sync' 's/^sync = .*/sync = maybe/'
refuse iod - 'iod.1' '17,19d'
both 18 'address' '18s/.*/address = tcp:/'
both - '[mgr] address' '7d'
both 14 '[iod.0] [mgr]' '7s/:0/:7000/;14s/:0/:7000/'
both 18 '[iod.1] [iod.0]' '14s/:0/:7000/;18s/:0/:7000/'
both 18 '[iod.1] [iod.0]' '14s/tcp.*0/pvfs:\/\/HOST:7000/;18s/tcp.*0/tcp:\/\/host:7000/'
refuse iod - 'storage' '19d'
refuse mgr - 'storage' '8d'
both 8 'storage' '8s/.*/storages = x/'
both - 'iod.1 gap' 's/^\[iod.1\]/[iod.2]/'
index=0 refuse iod - 'iod.1 gap' 's/^\[iod.1\]/[iod.2]/'
both 15 '' '15s/.*/this is no setting/'
both 13 '' '13s/.*/[iod.0/'

# a wrong value of a setting that only another daemon uses does not matter
good | sed '8a slots = many' >"$conf"
timeout -s TERM 3 "$pvfs_iod" --config "$conf" --index 1 >"$tmp/output" 2>&1
grep -qF 'waits' "$tmp/output" || fail "iod: $(cat "$tmp/output")"
good | sed 's/^sync = .*/sync = maybe/; 19a slots = many' >"$conf"
timeout -s TERM 3 "$pvfs_mgr" --config "$conf" >"$tmp/output" 2>&1
grep -qF 'waits' "$tmp/output" || fail "mgr: $(cat "$tmp/output")"
rm -rf "$tmp/mgr" "$tmp/iod1"

# the sample in conf/ is valid with every setting switched on
sed -E "s/^#([a-z_]+ = )/\\1/; s|pvfs://.*|pvfs://127.0.0.1:0|
	s|/var/lib/pvfs|$tmp|; s|/etc/pvfs/key|$tmp/key|" "$top/conf/pvfs.conf" >"$conf"
for program in "$pvfs_mgr" "$pvfs_iod --index 3" "$pvfs_iod --index 3 --new-store"; do
	timeout -s TERM 3 $program --config "$conf" >"$tmp/output" 2>&1
	grep -qF 'waits' "$tmp/output" || fail "the sample: $(cat "$tmp/output")"
	rm -rf "$tmp/mgr" "$tmp/iod"
done
expect 600 stat -c %a "$tmp/key"

# a missing file, and an unreadable one
rm "$conf"
must_fail timeout 20 "$pvfs_mgr" --config "$conf"
grep -qF "$conf" "$tmp/output" || fail "$(cat "$tmp/output")"
must_fail timeout 20 "$pvfs_iod" --config "$tmp" --index 0
grep -qF "$tmp" "$tmp/output" || fail "$(cat "$tmp/output")"

# an index that is not in the file
good >"$conf"
must_fail timeout 20 "$pvfs_iod" --config "$conf" --index 7
grep -qF '[iod.7] address: missing; there are iods 0 to 1' "$tmp/output" || fail "$(cat "$tmp/output")"

# addresses that do not fit into one message to clients
{
	good
	for i in $(seq 2 999); do
		printf '[iod.%d]\naddress = tcp://storage-%03d.example:7000\n' \
			"$i" "$i"
		echo "storage = $tmp/iod"
	done
} >"$conf"
must_fail timeout 20 "$pvfs_mgr" --config "$conf"
grep -qE "^pvfs-mgr: $conf:[0-9]+: \[iod\.[0-9]+\] address: .* shorter" \
	"$tmp/output" || fail "long addresses: $(cat "$tmp/output")"

# an address in use, one of another host, an unknown host, an unavailable transport: the storage is
# not changed
start_pvfs -n 2
taken=$(port_of mgr)
refuse mgr '' "$taken daemon port [iod.N]" "7s|:0$|:$taken|"
refuse iod '' '192.0.2.1 address [iod.N]' '18s|127.0.0.1|192.0.2.1|'
refuse mgr '' 'no-such-host.invalid' '7s|127.0.0.1|no-such-host.invalid|'
refuse iod '' 'no-such-host.invalid' '18s|127.0.0.1|no-such-host.invalid|'
refuse mgr 9 'fabric=strict:foo' '7s|tcp|pvfs|;8a fabric = strict:foo'
refuse iod 19 'fabric=strict:foo' '18s|tcp|pvfs|;18a fabric = strict:foo'
refuse mgr 9 'transport foo' '7s|tcp|pvfs|;8a fabric = foo'
refuse iod 13 'fabric=local tcp://' '12a fabric = local'
[ ! -e "$tmp/mgr" ] || fail "the manager made storage before it could serve"
[ ! -e "$tmp/iod1" ] || fail "the iod made storage before it could serve"

# pvfstab has the port of an iod, and a port without a server
sed "s/port=[0-9]*/port=$(port_of iod.1)/" "$state/pvfstab" >"$tmp/pvfstab"
must_fail env PVFSTAB_FILE="$tmp/pvfstab" pvfs-ls /pvfs
grep -q "is an iod, not the manager; port= of the mount is" "$tmp/output" ||
	fail "an iod's port: $(cat "$tmp/output")"
grep -q "^pvfs-ls: /pvfs: No such device or address" "$tmp/output" ||
	fail "an iod's port: $(cat "$tmp/output")"
must cluster stop
must_fail env PVFS_TIMEOUT=1 pvfs-ls /pvfs
grep -q "no answer to MOUNT .*: Connection refused; is pvfs-mgr running" \
	"$tmp/output" || fail "nobody there: $(cat "$tmp/output")"

# storage of another server or of another file system
sed -i "s|^storage = .*/iod1$|storage = $state/other|
	s|^storage = .*/iod0$|storage = $state/iod1|
	s|^storage = .*/other$|storage = $state/iod0|" "$state/pvfs.conf"
must_fail cluster start
# either of the two may end first and be named
grep -q "$state/iod[01]/pvfs-stamp says" "$tmp/output" ||
	fail "exchanged storage: $(cat "$tmp/output")"
sed -i "s|^storage = .*/iod1$|storage = $state/other|
	s|^storage = .*/iod0$|storage = $state/iod1|
	s|^storage = .*/other$|storage = $state/iod0|" "$state/pvfs.conf"
sed -i 's/^id = .*/id = fedcba9876543210/' "$state/pvfs.conf"
must_fail cluster start
grep -q 'fedcba9876543210' "$tmp/output" ||
	fail "another file system: $(cat "$tmp/output")"

# errors in pvfstab are reported in the same way
export PVFSTAB_FILE=$tmp/pvfstab
echo '127.0.0.1:/ /pvfs pvfs port=70000 0 0' >"$PVFSTAB_FILE"
must_fail pvfs-ls /pvfs
grep -qF "$PVFSTAB_FILE" "$tmp/output" || fail "pvfstab: $(cat "$tmp/output")"
echo '127.0.0.1:/ /pvfs pvfs rdma_device=a:b 0 0' >"$PVFSTAB_FILE"
must_fail pvfs-ls /pvfs
grep -qF "$PVFSTAB_FILE:1: option \"rdma_device=a:b\": write rdma_device=NAME" \
	"$tmp/output" || fail "pvfstab: $(cat "$tmp/output")"
