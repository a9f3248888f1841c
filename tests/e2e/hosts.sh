# SPDX-License-Identifier: BSD-2-Clause
# hosts.sh - a file system on simulated hosts; sourced after functions.sh.
#
# A host is a network namespace. All hosts are connected to a switch, which is another namespace.
# Programs enter a host with nsenter(1), and stay in this mount namespace. `ip netns exec` would
# copy all mounts of this machine, and so keep the mounts of other tests busy until the program
# ends.
requires root
requires tool ip
requires tool nsenter

net=pvfs$$
hosts=()
servers=()
declare -A address

on() { local host=$1; shift; nsenter --net="/run/netns/$net-$host" "$@"; }
cable() { must ip -n "$net-switch" link set "$1" "$2"; }

remove_hosts() {
	local host

	for host in "${hosts[@]}" switch; do
		ip netns del "$net-$host" 2>/dev/null
	done
	return 0
}
at_end remove_hosts

# add_host NAME: creates a host with the next address
add_host() {
	hosts+=("$1")
	address[$1]=10.83.0.${#hosts[@]}
	ip netns add "$net-$1" &&
		ip -n "$net-switch" link add "$1" type veth \
			peer name eth0 netns "$net-$1" &&
		ip -n "$net-switch" link set "$1" master sw0 up &&
		ip -n "$net-$1" addr add "${address[$1]}/24" dev eth0 &&
		ip -n "$net-$1" link set lo up &&
		ip -n "$net-$1" link set eth0 up
}

# make_hosts NAME...: creates hosts with addresses 10.83.0.1, ..., stored in ${address[NAME]}
make_hosts() {
	local host

	ip netns add "$net-switch" && on switch true || skip "needs network namespaces"
	must ip -n "$net-switch" link add sw0 type bridge
	must ip -n "$net-switch" link set sw0 up
	for host in "$@"; do must add_host "$host"; done
}

# cut A B: drops all packets between two hosts. heal A B ends that.
cut() {
	must ip -n "$net-$1" neigh replace "${address[$2]}" lladdr 02:00:00:00:00:99 \
		dev eth0 nud permanent
	must ip -n "$net-$2" neigh replace "${address[$1]}" lladdr 02:00:00:00:00:99 \
		dev eth0 nud permanent
}
heal() {
	must ip -n "$net-$1" neigh del "${address[$2]}" dev eth0
	must ip -n "$net-$2" neigh del "${address[$1]}" dev eth0
}

# configure [LINE...]: writes pvfs.conf and pvfstab for servers on the hosts mgr, iod0 and iod1; the
# lines are added to the section of the manager
configure() {
	mkdir -p "$state/log" mgr iod0 iod1
	cat >pvfs.conf <<-END
		[filesystem]
		id = 0123456789abcdef
		[mgr]
		address = pvfs://${address[mgr]}:3000
		storage = $tmp/mgr
		dead_peer = 4
		$(printf '%s\n' "$@")
		[iod]
		dead_peer = 4
		[iod.0]
		address = pvfs://${address[iod0]}:7000
		storage = $tmp/iod0
		[iod.1]
		address = pvfs://${address[iod1]}:7000
		storage = $tmp/iod1
	END
	echo "${address[mgr]}:/ /pvfs pvfs port=3000,timeout=60 0 0" >pvfstab
	export PVFSTAB_FILE=$tmp/pvfstab
}

# serve HOST PROGRAM...: starts a server on HOST, with the log log_of HOST; it ends with the test.
# The background process must be the program itself: a function would run in a shell, and killing
# the shell would not end the program.
serve() {
	local host=$1 log

	log=$(log_of "$host")
	shift
	nsenter --net="/run/netns/$net-$host" "$@" >"$log" 2>&1 &
	servers+=($!)
}
# ready HOST...: waits until the servers there serve.
ready() {
	local host

	for host; do until_true 60 grep -q '^[^:]*: info: ready' "$(log_of "$host")"; done
}
# A sanitizer reports when the process ends.
end_servers() {
	[ ${#servers[@]} = 0 ] && return
	kill "${servers[@]}" 2>/dev/null
	wait "${servers[@]}" 2>/dev/null
}
at_end end_servers

# serve_all: starts the servers of configure
serve_all() {
	serve iod0 "$PVFS_BUILD/server/pvfs-iod" --index 0 --config "$tmp/pvfs.conf"
	serve iod1 "$PVFS_BUILD/server/pvfs-iod" --index 1 --config "$tmp/pvfs.conf"
	serve mgr "$PVFS_BUILD/mgr/pvfs-mgr" --config "$tmp/pvfs.conf"
	ready iod0 iod1 mgr
}
