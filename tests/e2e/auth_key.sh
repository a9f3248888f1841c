#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients with auth = key.  A client with the file system's key is key_user, and one without it is
# nobody.  On this host the kernel identifies every client, and tickets outlive servers.
. "$(dirname "$0")/functions.sh"
requires root


export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
pid() { cluster pid "$1"; }
logged() { grep -q -- "$2" "$(log_of "$1")"; }
owner() { pvfs-stat -j "$1" | grep -o '"uid": *[0-9]*' | grep -o '[0-9]*$'; }
# tab OPTION...: writes a pvfstab with these options
tab() {
	sed "s|pvfs port=\([0-9]*\),transport=[a-z]*|pvfs port=\1,$1|" "$state/pvfstab" \
		>"$tmp/tab"
	export PVFSTAB_FILE=$tmp/tab
}

start_pvfs -n 2 --transport pvfs --set filesystem.auth=key --set filesystem.key_user=daemon
key=$state/key
logged mgr 'auth = sys' && fail "the manager says that it is open"

# ---- on this host, by the kernel's word ----

tab transport=local
expect ok pvio write /pvfs/root 0 100000 1
expect 0 owner /pvfs/root
must pvfs-chmod 1777 /pvfs

# ---- a client that only asks whether objects are lent needs no capability ----

must pvfs-ping >"$tmp/pinged"
[ "$(grep -c '^iod .*; lends objects' "$tmp/pinged")" = 2 ] || fail "$(cat "$tmp/pinged")"
"$PVFS_BUILD/client/tools/pvfs-doctor" --skip clock,mounted --verbose >"$tmp/output" 2>&1
grep -q "$(port_of iod.1) over local" "$tmp/output" || fail "$(cat "$tmp/output")"
grep -h 'is refused' "$state"/log/iod*.log >"$tmp/output" && fail "$(cat "$tmp/output")"

# ---- from elsewhere: nobody without the key ----

tab transport=tcp
must_fail pvio write /pvfs/none 0 10 1
grep -q 'write auth=munge, or auth=key' "$tmp/output" || fail "$(cat "$tmp/output")"

tab "transport=tcp,auth=key,key=$key"
expect ok pvio write /pvfs/mine 0 1000000 1
expect 1 owner /pvfs/mine
expect ok pvio check /pvfs/mine 0 1000000 1
# key_user is not root
must_fail pvfs-chmod 700 /pvfs/root

# ---- another key ----

(umask 077; od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n' >other; echo >>other)
tab "transport=tcp,auth=key,key=$tmp/other"
must_fail pvio write /pvfs/none 0 10 1
grep -q 'its key is not that of the servers' "$tmp/output" || fail "$(cat "$tmp/output")"
until_true 30 logged mgr 'does not get a ticket'
tab "transport=tcp,auth=key,key=$tmp/none"
must_fail pvio write /pvfs/none 0 10 1

# ---- no downgrade ----

tab "transport=tcp,auth=munge"
must_fail pvio write /pvfs/none 0 10 1
grep -q 'asks for auth=munge at least' "$tmp/output" || fail "$(cat "$tmp/output")"

# ---- over local, with the option: the kernel's word goes on ----

tab "transport=local,auth=key,key=$key"
expect ok pvio write /pvfs/root2 0 1000000 1
expect 0 owner /pvfs/root2

# ---- servers that come and go: the ticket brings the session back ----

tab "transport=tcp,auth=key,key=$key"
head -c 3000000 /dev/urandom >data
refusals() { cat "$state"/log/*.log | grep -c 'refused ('; }
refused=$(refusals)
copy_on & copies=$!
for server in 0 1; do
	must cluster kill-iod $server
	must cluster start-iod $server
done
must cluster kill-mgr
must cluster start-mgr
# these iods do not know the manager that issued the tickets
for server in 0 1; do
	must cluster kill-iod $server
	must cluster start-iod $server
done
expect "$refused" refusals
touch enough
wait $copies || fail "the copies did not survive"
expect ok pvio check /pvfs/mine 0 1000000 1

# one session with several requests, whichever of them is first at the new manager
mkdir many
touch many/{1..4000}
pvfs-cp -r -q many /pvfs/ & copies=$!
begun() { pvfs-ls /pvfs/many 2>/dev/null | grep -q .; }
until_true 30 begun
stand_still $copies
must cluster kill-mgr
must cluster start-mgr
kill -CONT $copies
wait $copies || fail "a copy did not survive a new manager"
until_true 30 logged mgr "(.*pvfs-cp): resumes session .*, uid 1,"
expect 4000 eval "pvfs-ls /pvfs/many | grep -c ."

# ---- pvfs-ping sees them all ----

must pvfs-ping >"$tmp/output"
[ "$(grep -c ' up ' "$tmp/output")" = 3 ] || fail "not all are up: $(cat "$tmp/output")"
! grep -q 'auth = sys' "$tmp/output" || fail "these do not believe: $(cat "$tmp/output")"

# ---- a mount, of a key_user who may act for others ----

mounted() {
	local m=$tmp/m daemon

	sed -i 's/^key_user = .*/key_user = root/' "$state/pvfs.conf"
	must cluster restart

	tab "transport=tcp,auth=key,key=$key"
	mkdir "$m"
	"$PVFS_BUILD/client/fuse/pvfs-fuse" /pvfs "$m" -f >fuse.log 2>&1 &
	daemon=$!
	helpers+=("$daemon")
	until_true 30 mountpoint -q "$m"
	must cmp -n 100000 "$m/mine" "$m/mine"
	until_true 30 umount "$m"
	wait "$daemon" || fail "pvfs-fuse: $?: $(cat fuse.log)"
	grep 'it was not told' fuse.log && fail "the manager does not know what is open"
	# the mount declares each open of its own to each new manager
	pvfs-stats -j | grep -q '"op": *"DECLARE", *"requests": *[0-9]*, *"errors": *[0-9]' ||
		fail "$(pvfs-stats)"
}
if [ -c /dev/fuse ] && [ -x "$PVFS_BUILD/client/fuse/pvfs-fuse" ]; then mounted; fi
