#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-mgr --backup copies the database of the leader of three managers. After --restore, the copy
# is the database of a single manager, or of a manager that founds a new group. It has all changes
# that were acknowledged before the backup began.
. "$(dirname "$0")/functions.sh"

mgr() { "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" "$@"; }
restore() { mgr "$@" --restore >"$tmp/output" 2>&1; }
fsck() { "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf" "$@"; }
says() { grep -qF -- "$1" "$2" || fail "no '$1' in: $(<"$2")"; }
stop_managers() { for n in 0 1 2; do must cluster stop-mgr $n; done; }
backup() {
	mgr --index "$(leader)" --backup "$1" >"$tmp/output" 2>&1
}

# serves N: changes acknowledged before backup N are there, and new files work
serves() {
	fsck --repair >found || [ $? = 1 ] || fail "$(<found)"
	must fsck >found
	expect ok pvio check /pvfs/kept 0 300000 1
	pvio names /pvfs >names
	[ "$(grep -c "^round$1\." names)" = 20 ] || fail "files are missing in copy $1"
	expect ok pvio write "/pvfs/new$1" 0 300000 7
	expect ok pvio check "/pvfs/new$1" 0 300000 7
}

start_pvfs -n 2 --managers 3
expect ok pvio write /pvfs/kept 0 300000 1

# ---- a client creates, renames and removes while copies are made ----

mkfifo "$tmp/hold"
pvledger /pvfs/ledger 1 <"$tmp/hold" >"$tmp/ledger" 2>&1 & ledger=$!
helpers+=("$ledger")
exec 5>"$tmp/hold"
for n in 1 2; do
	expect ok pvio create /pvfs "round$n." 20 1
	until_true 60 backup "$tmp/copy$n"
	says 'backup of the database' "$tmp/output"
done
exec 5>&-
wait "$ledger" || fail "the client was disturbed: $(<"$tmp/ledger")"
helpers=()
expect ok pvio create /pvfs later. 20 1

# ---- a member's own storage is not restored ----

stop_managers
must_fail restore --index 0
says 'is of a member of a group' "$tmp/output"
must_fail restore --index 1
says 'restore in the storage of [mgr.0]' "$tmp/output"
mv "$state/mgr0" lost0
mv "$state/mgr1" lost1
mv "$state/mgr2" lost2

# ---- a new group, of which the others are filled ----

cp -a copy1 "$state/mgr0"
must restore --index 0
# much higher than the terms that the old storages can reach by elections
term=$(grep -oE 'goes on above term [0-9]+' "$tmp/output" | grep -oE '[0-9]+')
[ "$term" -gt 65536 ] || fail "it goes on above term $term"
mkdir "$state/mgr1" "$state/mgr2"
must cluster start >/dev/null
serves 1
grep -q '^later' names && fail "the copy has files of later"
until_true 120 eval '[ "$(group_votes)" = 3 ]'
must cluster kill-mgr "$(leader)"
expect ok pvio check /pvfs/new1 0 300000 7

# ---- a single manager, at the address of [mgr.0] ----

stop_managers
address=$(conf_value mgr.0 address)
sed -i "s|^\[mgr\]|&\naddress = $address\nstorage = $state/mgr|; /^\[mgr\.[0-9]\]/,/^storage/d" \
	"$state/pvfs.conf"
sed -i 's|,[^ ]*:/ /pvfs|:/ /pvfs|' "$state/pvfstab"
cp -a copy2 "$state/mgr"
must_fail cluster start-mgr
says 'belongs to one of several managers' "$(log_of mgr)"
must restore
must cluster start-mgr >/dev/null
serves 2
must cluster stop-mgr
must mgr --check
must cluster start-mgr >/dev/null
expect ok pvio check /pvfs/new2 0 300000 7
