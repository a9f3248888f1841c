#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-doctor on a host that has only an iod. If clients prove their identity by MUNGE, it does not
# report a missing munged there: only the manager's host and clients' hosts need it.
. "$(dirname "$0")/functions.sh"
. "$e2e/hosts.sh"
requires tool munged
requires tool munge
unset PVFS_LOG

make_hosts mgr iod

mkdir -p "$state/log" mgr iod munge
small_disk "$tmp/iod" 400
(umask 077; head -c 128 /dev/urandom >munge/key)
munged --foreground --force --key-file="$tmp/munge/key" --socket="$tmp/munge/socket" \
	--pid-file="$tmp/munge/pid" --log-file="$tmp/munge/log" --seed-file="$tmp/munge/seed" \
	>munge/output 2>&1 &
helpers+=($!)
answers() { munge -s x -S "$tmp/munge/socket" >/dev/null 2>&1; }
until_true 30 answers

# Each host has its own configuration file: both find sockets by path.
for host in mgr iod; do
	cat >"$host.conf" <<-END
		[filesystem]
		id = 0123456789abcdef
		key = $tmp/key
		auth = munge
		munge_socket = $tmp/$([ $host = mgr ] && echo munge/socket || echo none)
		[mgr]
		address = pvfs://10.83.0.1:3000
		storage = $tmp/mgr
		[iod.0]
		address = pvfs://10.83.0.2:7000
		storage = $tmp/iod
	END
done
export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
serve mgr "$PVFS_BUILD/mgr/pvfs-mgr" --config "$tmp/mgr.conf"
until_true 30 [ -s key ]
serve iod "$PVFS_BUILD/server/pvfs-iod" --index 0 --config "$tmp/iod.conf"
ready mgr iod

doctor() {
	local host=$1
	shift

	on "$host" pvfs-doctor -c "$tmp/$host.conf" --verbose --skip "$1" >found 2>err
}
# skip the checks of the machine itself
host_own=clock,fsync,mounted,dirty,tcp,memory,huge-pages,ptrace,shm,fuse,descriptors,memlock,room
doctor mgr $host_own || fail "the manager's host: $(cat found err)"
doctor iod $host_own || fail "an iod's host: $(cat found err)"
grep -q 'of servers the manager alone needs it' found || fail "munge is not looked at: $(cat found)"
grep -q '10.83.0.1:3000 answers, and refuses' found || fail "the manager is not reached: $(cat found)"
# an iod reports its disk only to clients that have proved their identity to its manager
fallocate -l 350M iod/filled || skip "no fallocate in a tmpfs"
must_fail doctor mgr $host_own
grep -qE '^found: space, iod 0: .*83.0.2:7000 has [0-9]+ MiB left' found || fail "a full disk: $(cat found err)"
rm iod/filled
# a file that differs from that of the servers
sed -i "s/^auth = munge/&\nseal = encrypt/" mgr.conf
must_fail doctor mgr $host_own
grep -q '^found: ways, iod 0: .*83.0.2:7000 has seal = auth, and .*mgr.conf here encrypt' found || fail "seal: $(cat found err)"
sed -i "/^seal/d" mgr.conf
# faults are still found
sed -i "s|munge/socket|none|" mgr.conf
must_fail doctor mgr $host_own
grep -q '^found: munge: .*munged is not reached' found || fail "the manager's host: $(cat found)"
! grep -q firewall found || fail "who is refused is told of a firewall: $(cat found)"
# the host is a client's host as well, because it has a pvfstab
echo "10.83.0.1:/ /pvfs pvfs port=3000,timeout=5,auth=munge,munge_socket=$tmp/none 0 0" >tab
client() { PVFSTAB_FILE=$tmp/tab on iod pvfs-doctor --verbose --skip $host_own >found 2>err; }
must_fail client
grep -q '^found: pvfstab: .*auth=munge, and munged is not reached at .*none' found &&
	grep -q '^    fix: systemctl enable --now munge' found &&
	grep -q '^    fix: .*with munge: munged here and on the manager' found || fail "a client: $(cat found)"
sed -i "s|$tmp/none|$tmp/munge/socket|" tab
PVFS_AUTH_LIBRARY=$tmp/no-library must_fail client
grep -q '^    fix: install libmunge' found || fail "no library: $(cat found)"
client || fail "a client: $(cat found err)"
tr 0-9a-f f0-9a-e <key >key.other && chmod 600 key.other
sed -i "s|$tmp/key|$tmp/key.other|" iod.conf
must_fail doctor iod $host_own
grep -q '^found: same, mgr: ' found || fail "another key: $(cat found)"
sed -i "s|key.other|key|" iod.conf
kill "${servers[0]}" && wait "${servers[0]}"
must_fail doctor iod $host_own
grep -q '^found: reach, mgr: nobody listens' found || fail "no manager: $(cat found)"
