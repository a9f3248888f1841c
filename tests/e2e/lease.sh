#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The link between the manager and an iod is cut, those of the clients are whole: the
# iod carries out no writes when its lease has passed, reads go on, and a dead
# client's lock and file are given up no earlier than that.  Then it heals.
. "$(dirname "$0")/functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH
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
# What iod 0 and the manager send to each other is lost, without a word; or not.
cut() {
	must ip -n "$net-mgr" neigh replace 10.83.0.2 lladdr 02:00:00:00:00:99 \
		dev eth0 nud permanent
	must ip -n "$net-iod0" neigh replace 10.83.0.1 lladdr 02:00:00:00:00:99 \
		dev eth0 nud permanent
}
heal() {
	must ip -n "$net-mgr" neigh del 10.83.0.2 dev eth0
	must ip -n "$net-iod0" neigh del 10.83.0.1 dev eth0
}

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
	lease = 4
	session_timeout = 2
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
sed 's/timeout=60/timeout=2/' pvfstab >impatient
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


expect ok on client pvio write /pvfs/f 0 1000000 1
expect ok on client pvio write /pvfs/g 0 1000000 1
# another client, which dies while iod 0 cannot be told
mkfifo in
ip netns exec "$net-client" env PATH="$PATH" lib_locks hold /pvfs/l <in >out 2>err &
holder=$!
exec 9>in
until_true 30 grep -q held out

cut
kill -9 $holder
wait $holder 2>/dev/null
exec 9>&-
expect taken on client lib_locks wait /pvfs/l
# so nothing is written there any more; all is read
PVFSTAB_FILE=$tmp/impatient \
	expect ETIMEDOUT on client pvio write /pvfs/f 0 1000000 2
grep -q 'the manager was not heard' "$(log_of iod0)" || fail "no word of it"
expect ok on client pvio check /pvfs/g 0 1000000 1

# ... and a write that waits is done when it heals
on client pvio write /pvfs/f 0 1000000 3 >wrote 2>&1 & writer=$!
helpers+=($writer)
heal
must wait $writer
expect ok on client pvio check /pvfs/f 0 1000000 3
until_true 30 grep -q 'the manager is heard again' "$(log_of iod0)"
