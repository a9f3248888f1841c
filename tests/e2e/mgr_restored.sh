#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The manager's disk is lost, and its folder is restored from a backup, after which the manager was
# started 0, 1, 2 and 5 times. Without pvfs-mgr --restore the manager ends and logs why. With it,
# the manager serves and assigns no handle again, and pvfs-fsck finds objects that have lost their
# names.
. "$(dirname "$0")/functions.sh"

restore() { "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" --restore >restored 2>&1; }
fsck() { "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf" "$@"; }
says() { grep -qF -- "$1" "$2" || fail "no '$1' in: $(<"$2")"; }

# lives N: starts the manager N times, each time ended by a kill
lives() {
	local k

	for ((k = 1; k <= $1; k++)); do
		must cluster start-mgr >/dev/null
		expect ok pvio write "/pvfs/since.$1.$k" 0 300000 "$k"
		[ "$k" != 1 ] || must pvfs-rm "/pvfs/doomed.$1"
		must cluster kill-mgr
	done
}

# serves N: old files are there, and new files have only their own data
serves() {
	local k

	expect ok pvio check /pvfs/kept 0 1000000 1
	expect ok pvio write "/pvfs/new.$1" 0 300000 7
	for k in 1 2 3 4 5 6 7 8; do # no data of who had its handle before
		expect ok pvio write "/pvfs/new.$1.$k" 299999 1 7
		head -c 299999 /dev/zero | cmp -n 299999 - <(pvfs-cat "/pvfs/new.$1.$k") ||
			fail "there is data in new.$1.$k that nobody wrote"
	done
	expect ok pvio check "/pvfs/new.$1" 0 300000 7
}

start_pvfs -n 3
expect ok pvio write /pvfs/kept 0 1000000 1
lost=0
for n in 0 1 2 5; do
	expect ok pvio write /pvfs/doomed.$n 0 300000 1
	must cluster stop-mgr
	rm -rf backup && cp -a "$state/mgr" backup
	lives $n
	rm -rf "$state/mgr" && cp -a backup "$state/mgr"
	if [ $n != 0 ]; then
		cluster start-mgr >/dev/null 2>&1
		until_true 30 grep -q 'it obeys another manager' "$(log_of mgr)"
		says 'pvfs-mgr --restore' "$(log_of mgr)"
		cluster stop-mgr >/dev/null 2>&1
		must_fail cluster start-mgr
		says 'was displaced' "$(log_of mgr)"
	fi
	restore || fail "$(<restored)"
	must cluster start-mgr >/dev/null
	serves $n
	must cluster stop-mgr
	must cluster start-mgr >/dev/null
	expect ok pvio check "/pvfs/new.$n" 0 300000 7
	must pvfs-rm /pvfs/doomed.$n # also where its objects were removed
	# objects of files that were created after the backup, and no others
	lost=$((lost + n))
	fsck >found 2>&1
	[ "$(grep -c '^orphan' found)" = $((3 * lost)) ] &&
		grep -q ": $((3 * lost)) problems" found ||
		fail "$lost files were made in lives that are lost: $(<found)"
done
fsck --repair >found || [ $? = 1 ] || fail "$(<found)"
must fsck >found
expect ok pvio check /pvfs/kept 0 1000000 1

# the manager waits for an iod that does not reply, and does not guess
must cluster stop-mgr
must cluster kill-iod 1
restore && fail "without one of the iods: $(<restored)"
says 'start all iods' restored
must_fail cluster start-mgr
says 'not restored to the end' "$(log_of mgr)"
must_fail env PVFS_READY_SECONDS=1 "$top/scripts/cluster" start-iod 1 -d "$state"
restore || fail "$(<restored)"
must cluster start-mgr >/dev/null
until_true 30 grep -q ': ready' "$(log_of iod1)"
expect ok pvio check /pvfs/kept 0 1000000 1

# if addresses are exchanged, no store is bound to another iod; without a key iods cannot prove
# their index
must cluster stop
sed -i '/^key/d; s/^auth = .*/auth = sys/' "$state/pvfs.conf"
must cluster start >/dev/null
must cluster stop-mgr
port0=$(port_of iod.0) port1=$(port_of iod.1)
cp "$state/pvfs.conf" right.conf
sed -i "s/:$port0\$/:swap/; s/:$port1\$/:$port0/; s/:swap\$/:$port1/" "$state/pvfs.conf"
restore && fail "with swapped addresses: $(<restored)"
says 'correct the address in [iod.' restored
cp right.conf "$state/pvfs.conf"
restore || fail "$(<restored)"
must cluster start-mgr >/dev/null
expect ok pvio check /pvfs/kept 0 1000000 1
