#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A file system on hosts of its own, network namespaces joined by a switch:
# clients choose local on a server's host and tcp elsewhere, a cable that is
# out for a while costs time and nothing else, a host that is gone costs the
# calls that need it, by their deadline, and its connections are given up.
. "$(dirname "$0")/functions.sh"
requires root
requires tool ip

net=pvfs$$
hosts=(mgr iod0 iod1 client)
on() { local host=$1; shift; ip netns exec "$net-$host" "$@"; }

remove_hosts() {
	local host

	for host in "${hosts[@]}" switch; do
		ip netns del "$net-$host" 2>/dev/null
	done
	return 0
}
at_end remove_hosts
ip netns add "$net-switch" && on switch true ||
	skip "needs network namespaces"

# add_host NAME NUMBER: with the address 10.83.0.NUMBER
add_host() {
	ip netns add "$net-$1" &&
		ip -n "$net-switch" link add "$1" type veth \
			peer name eth0 netns "$net-$1" &&
		ip -n "$net-switch" link set "$1" master sw0 up &&
		ip -n "$net-$1" addr add "10.83.0.$2/24" dev eth0 &&
		ip -n "$net-$1" link set lo up &&
		ip -n "$net-$1" link set eth0 up
}
cable() { must ip -n "$net-switch" link set "$1" "$2"; }

must ip -n "$net-switch" link add sw0 type bridge
must ip -n "$net-switch" link set sw0 up
for i in "${!hosts[@]}"; do must add_host "${hosts[i]}" $((i + 1)); done

mkdir -p "$state/log" mgr iod0 iod1
cat >pvfs.conf <<-END
	[filesystem]
	id = 0123456789abcdef
	[mgr]
	address = pvfs://10.83.0.1:3000
	storage = $tmp/mgr
	dead_peer = 4
	[iod]
	dead_peer = 4
	[iod.0]
	address = pvfs://10.83.0.2:7000
	storage = $tmp/iod0
	[iod.1]
	address = pvfs://10.83.0.3:7000
	storage = $tmp/iod1
END
echo "10.83.0.1:/ /pvfs pvfs port=3000,timeout=60 0 0" >pvfstab
sed 's/timeout=60/timeout=4/' pvfstab >impatient
export PVFSTAB_FILE=$tmp/pvfstab

servers=()
# serve HOST PROGRAM...; ready HOST: until it serves.  No function in the background: its
# process would be a shell's, and the program outlive it.
serve() {
	local host=$1 log

	log=$(log_of "$host")
	shift
	ip netns exec "$net-$host" "$@" --config "$tmp/pvfs.conf" >"$log" 2>&1 &
	servers+=($!)
}
ready() { until_true 30 grep -q '^[^:]*: info: ready' "$(log_of "$1")"; }
# A sanitizer reports when the process ends.
end_servers() {
	[ ${#servers[@]} = 0 ] && return
	kill "${servers[@]}" 2>/dev/null
	wait "${servers[@]}" 2>/dev/null
}
at_end end_servers
serve iod0 "$PVFS_BUILD/server/pvfs-iod" --index 0
serve iod1 "$PVFS_BUILD/server/pvfs-iod" --index 1
serve mgr "$PVFS_BUILD/mgr/pvfs-mgr"
for i in iod0 iod1 mgr; do ready $i; done

# ---- each way is the best one ----

must on client pvfs-ping >ping
[ "$(grep -c ' up .* tcp ' ping)" = 3 ] || fail "not tcp: $(cat ping)"
grep -q 'same host' ping && fail "another host is not this one: $(cat ping)"
must on iod0 pvfs-ping >ping
grep -q '10.83.0.2.* up .* local ' ping || fail "not local: $(cat ping)"
[ "$(grep -c ' up .* tcp ' ping)" = 2 ] || fail "not tcp: $(cat ping)"

head -c 30000000 /dev/urandom >data
must on client pvfs-cp -q --verify data /pvfs/one
must on iod0 pvfs-cp -q /pvfs/one back
must cmp data back
must on iod1 pvfs-cp -q --verify data /pvfs/two
expect "$(sha256sum <data)" on client sh -c 'pvfs-cat /pvfs/two | sha256sum'

# ---- a cable is out for a while ----

copy() {
	local i

	for i in 1 2 3 4 5 6; do
		on client pvfs-cp -q --verify data /pvfs/copy$i || return 1
	done
}
copy & copy=$!
sleep 0.5
for host in iod1 mgr client; do
	cable $host down
	sleep 1.5
	cable $host up
done
wait $copy || fail "the copies did not survive"
must on client pvfs-cp -q /pvfs/copy6 back
must cmp data back

# ---- a host is gone ----

expect ok on client pvio write /pvfs/before 0 1000000 1
# a client that does nothing, in the middle of a file
mkfifo pipe
ip netns exec "$net-client" pvfs-cat /pvfs/one >pipe 2>/dev/null &
helpers+=($!)
exec 5<pipe
must head -c 1000000 <&5 >/dev/null
cable iod1 down
PVFSTAB_FILE=$tmp/impatient \
	expect ETIMEDOUT on client pvio check /pvfs/before 0 1000000 1
grep -q '10.83.0.3' stderr || fail "iod 1 is not named: $(cat stderr)"
# names, and stripes elsewhere, do not need it
PVFSTAB_FILE=$tmp/impatient expect before \
	on client sh -c 'pvfs-ls /pvfs | grep before'
must on client pvfs-ping 10.83.0.2:7000 >ping
# its connections, one idle and one not, are given up on both sides
until_true 60 grep -q 'connection closed: Connection timed out' \
	"$(log_of iod1)"
until_true 60 grep -q 'iod 1.*connection lost' "$(log_of mgr)"

# ---- and back ----

cable iod1 up
expect ok on client pvio check /pvfs/before 0 1000000 1
must on client pvfs-cp -q --verify data /pvfs/after
