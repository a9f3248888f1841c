#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A storage folder is empty although it had data, because it is not mounted or was wiped. The server
# rejects the folder and names it; no client reads zeros in place of its data.
. "$(dirname "$0")/functions.sh"

# refused WHO WORD...: the servers do not start, and WHO's log gives the reason
refused() {
	local log word

	log=$(log_of "$1")
	shift
	rm -f "$state"/log/*.log
	must_fail cluster start
	for word; do
		grep -qF -- "$word" "$log" || fail "no '$word' in: $(cat "$log")"
	done
	must_fail cluster status
}

# away NAME: makes a storage look unmounted; back NAME: mounts it again
away() { must mv "$state/$1" "$state/$1.real" && must mkdir "$state/$1"; }
back() { must rm -rf "${state:?}/$1" && must mv "$state/$1.real" "$state/$1"; }

start_pvfs -n 3
expect ok pvio write /pvfs/a 0 3000000 1
must cluster stop

# an iod's storage, with the other iods unchanged; again with the stamp of that attempt
away iod1
for round in 1 2; do
	refused iod1 "$state/iod1" mount --new-store
done
back iod1
must cluster start
expect ok pvio check /pvfs/a 0 3000000 1

# while the manager runs: a reader waits, and gets no zeros
must cluster kill-iod 1
away iod1
must_fail cluster start-iod 1
grep -qF -- "pvfs-iod --config $state/pvfs.conf --index 1 --new-store" "$(log_of iod1)" || fail "$(cat "$(log_of iod1)")"
back iod1
must cluster start-iod 1
expect ok pvio check /pvfs/a 0 3000000 1
must cluster stop

# another store of the same iod that was in use: rejected as early
away iod1
cp "$state/iod1.real/pvfs-stamp" "$state/iod1" && mkdir -p "$state/iod1/objects/here" &&
	sed -i 's/^store .*/store 0123456789abcdef/' "$state/iod1/pvfs-stamp"
refused iod1 "$state/iod1 holds store 0123456789abcdef"
grep -q ': ready' "$(log_of iod1)" && fail "$(cat "$(log_of iod1)")"
must cluster stop
# only the stamp is left
must rmdir "$state/iod1/objects/here" "$state/iod1/objects"
refused iod1 "$state/iod1" objects
back iod1
# everything is left but the objects
must mv "$state/iod1/objects" "$state/kept" && must mkdir "$state/iod1/objects"
refused iod1 "$state/iod1" objects
must rmdir "$state/iod1/objects" && must mv "$state/kept" "$state/iod1/objects"

# the manager's storage, with those of the iods unchanged
away mgr
refused mgr "$state/mgr" mount
refused mgr "$state/mgr" mount
back mgr
must cluster start
expect ok pvio check /pvfs/a 0 3000000 1

# the addresses of two iods are exchanged only in the manager's configuration, with and without a
# key of the servers: the manager waits, and no iod gets the identity of the other's store
must cluster stop-mgr
swap() {
	awk -v a="$(conf_value iod.0 address)" -v b="$(conf_value iod.1 address)" '
		/^\[/ { to = "" } /^\[iod\.0\]/ { to = b } /^\[iod\.1\]/ { to = a }
		/^address/ && to { $0 = "address = " to } { print }' "$1"
}
swap "$state/pvfs.conf" >swapped.conf
"$PVFS_BUILD/mgr/pvfs-mgr" --config "$tmp/swapped.conf" 2>swapped.log & swapped=$!
helpers+=("$swapped")
until_true 30 grep -q 'iod 0 .*this is iod 1: correct the address in \[iod.0\]' swapped.log
until_true 30 grep -q 'iod 1 .*this is iod 0: correct the address in \[iod.1\]' swapped.log
kill "$swapped" && wait "$swapped"
must cluster stop
cp "$state/pvfs.conf" with_key.conf
sed -i '/^key =/d' "$state/pvfs.conf" swapped.conf
for k in 0 1; do
	must_fail env PVFS_READY_SECONDS=1 "$top/scripts/cluster" start-iod $k -d "$state"
done
"$PVFS_BUILD/mgr/pvfs-mgr" --config "$tmp/swapped.conf" 2>swapped.log & swapped=$!
helpers+=("$swapped")
until_true 30 grep -q 'iod 0 .*this is iod 1: correct the address in \[iod.0\]' swapped.log
until_true 30 grep -q 'iod 1 .*this is iod 0: correct the address in \[iod.1\]' swapped.log
kill "$swapped" && wait "$swapped"
cluster stop >/dev/null 2>&1
cp with_key.conf "$state/pvfs.conf"
must cluster start
expect ok pvio check /pvfs/a 0 3000000 1

# without a manager, an iod that starts serves nobody
must cluster kill-mgr
must cluster kill-iod 1
must_fail env PVFS_READY_SECONDS=3 "$top/scripts/cluster" start-iod 1 -d "$state"
grep -qF "for the manager's word" "$(log_of iod1)" || fail "$(cat "$(log_of iod1)")"
must cluster start-mgr
until_true 30 grep -q ': ready' "$(log_of iod1)"
expect ok pvio check /pvfs/a 0 3000000 1

# the store is lost, and an administrator declares that: other files remain
expect ok pvio write /pvfs/b 0 100 2
must cluster kill-iod 1
must rm -rf "$state/iod1"
"$PVFS_BUILD/server/pvfs-iod" --config "$state/pvfs.conf" --index 1 \
	--new-store 2>new.log &
helpers+=($!)
until_true 30 grep -q 'new-store: the data of the old one is lost' "$(log_of mgr)"
expect ok pvio write /pvfs/c 0 3000000 3
expect ok pvio check /pvfs/c 0 3000000 3
kill $!
wait $! || fail "$(cat new.log)"
must_fail "$PVFS_BUILD/server/pvfs-iod" --config "$state/pvfs.conf" --index 1 \
	--new-store
grep -qF 'start without it' "$tmp/output" || fail "$(cat "$tmp/output")"
must cluster start
expect ok pvio check /pvfs/c 0 3000000 3
must cluster stop

# as earlier versions left the stamps: without the identity of the store
sed -i '/^store /d; /^manager /d' "$state"/iod?/pvfs-stamp
must cluster start
expect ok pvio check /pvfs/c 0 3000000 3
until_true 30 grep -q '^manager ' "$state/iod1/pvfs-stamp"

# a first start, one server after the other
must cluster stop
sed -i "s|$state/|$tmp/first/|" "$state/pvfs.conf" && must mkdir first
mkdir -p "$tmp/first/log"
begin() {
	"$PVFS_BUILD/$1" --config "$state/pvfs.conf" "${@:3}" 2>"$2.log" &
	helpers+=($!)
}
begin server/pvfs-iod first0 --index 0
until_true 30 grep -q 'waits: iod 0 .*until the manager' first0.log
begin mgr/pvfs-mgr firstm
until_true 30 grep -q 'waits until all' firstm.log
begin server/pvfs-iod first2 --index 2
begin server/pvfs-iod first1 --index 1
for who in 0 1 2 m; do
	until_true 30 grep -q ': ready' "first$who.log"
done
expect ok pvio write /pvfs/a 0 3000000 1
expect ok pvio check /pvfs/a 0 3000000 1
