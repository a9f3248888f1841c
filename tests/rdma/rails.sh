# SPDX-License-Identifier: BSD-2-Clause
# rails.sh - each process has two devices.  Connections are spread over both, and when a port goes
# down, they go on over the other device.  Runs only in the virtual machine, because it adds and
# removes a device.  Sourced by run.sh.
. "$here/servers.sh"

devices=rxe0/rxe1

second_device() {
	ip link add dummy1 type dummy && ip addr add 10.78.0.1/24 dev dummy1 &&
		ip link set dummy1 up && rdma link add rxe1 type rxe netdev dummy1 &&
		rdma link | grep 'rxe1/1 state ACTIVE'
}

servers_of_two() {
	cluster start -n 4 --port 0 --set mgr.fabric=strict:verbs \
		--set iod.fabric=verbs:tcp --set mgr.rdma_device=rxe0,rxe1 \
		--set iod.rdma_device=$devices || return 1
	grep 'verbs: rxe0' "$(log_of iod0)" && grep 'verbs: rxe1' "$(log_of iod0)" ||
		return 1
	sed "s/pvfs port=/pvfs fabric=verbs:tcp,rdma_device=rxe0\/rxe1,port=/" \
		"$state/pvfstab" >"$tmp/two"
	export PVFSTAB_FILE=$tmp/two
}

# on DEVICE: prints how many connected queue pairs DEVICE has.
on() { rdma resource show qp | grep -c "link $1/1 .*type RC .*state RTS"; }

# taken N M: checks that a new client reaches N of the four iods by rxe0 and M by rxe1.
taken() {
	PVFS_LOG=info timeout 60 pvfs-cp -q "$tmp/data" /pvfs/taken 2>"$tmp/taken" ||
		return 1
	grep 'iod .*: over verbs' "$tmp/taken"
	[ "$(grep -c 'iod .*: over verbs .*by rxe0' "$tmp/taken")" = "$1" ] &&
		[ "$(grep -c 'iod .*: over verbs .*by rxe1' "$tmp/taken")" = "$2" ]
}

# A client's connections are spread evenly, and the manager's connections to the iods use both
# devices.  These need not be spread evenly: if an iod did not listen on one device yet, the
# manager took the other.
spread() {
	taken 2 2 && echo "$(on rxe0) pairs on rxe0, $(on rxe1) on rxe1" &&
		[ "$(on rxe0)" -ge 2 ] && [ "$(on rxe1)" -ge 2 ]
}

# load N: copies and verifies files until $tmp/go is removed, and adds a line to $tmp/didN for
# each copy.
load() {
	local i

	for ((i = 0; ; i++)); do
		timeout 60 pvfs-cp -q --verify "$tmp/data" "/pvfs/load$1.$((i % 3))" ||
			return 1
		echo $i >>"$tmp/did$1"
		[ -e "$tmp/go" ] || return 0
	done
}

did() { cat "$tmp"/did? 2>/dev/null | wc -l; }

# until_did N: waits until all loads together have done N more copies.
until_did() {
	local want=$(($(did) + $1)) try

	for try in {1..600}; do
		[ "$(did)" -lt "$want" ] || return 0
		sleep 0.2
	done
	echo "$(did) copies, wanted $want"
	return 1
}

# lose COMMAND...: runs COMMAND, which takes a device away, while three loads copy.  All copies
# must succeed, and files written before and after COMMAND must read back right.
lose() {
	local pids=() i rc=0

	timeout 60 pvfs-cp -q --verify "$tmp/data" /pvfs/before && touch "$tmp/go" ||
		return 1
	rm -f "$tmp"/did?
	for i in 1 2 3; do load $i & pids+=($!); done
	until_did 3 && "$@" && until_did 6 || rc=1
	rm "$tmp/go"
	for i in "${pids[@]}"; do wait "$i" || rc=1; done
	timeout 60 pvfs-cp -q /pvfs/before "$tmp/back" && cmp "$tmp/data" "$tmp/back" ||
		rc=1
	for i in 1 2 3; do
		timeout 60 pvfs-cp -q /pvfs/load$i.0 "$tmp/back" &&
			cmp "$tmp/data" "$tmp/back" || rc=1
	done
	echo "$(did) copies, $(on rxe0) pairs on rxe0, $(on rxe1) on rxe1"
	return $rc
}

# The network device of rxe1 loses its carrier, so the port of rxe1 goes down.  All connections go
# over to rxe0.
port_down() {
	lose ip link set dummy1 carrier off && taken 4 0 && [ "$(on rxe1)" = 0 ]
}

# When the port is up again, new connections are spread over both devices.
port_up() {
	local try

	ip link set dummy1 carrier on
	for try in {1..50}; do
		rdma link | grep -q 'rxe1/1 state ACTIVE' && break
		sleep 0.2
	done
	taken 2 2
}

# The network device of rxe1 is set down, by which it also loses its address.
interface_down() { lose ip link set dummy1 down && taken 4 0; }

all_end() { cluster stop && [ "$(on rxe0)" = 0 ]; }

part_end() {
	cluster stop >/dev/null 2>&1
	ip link delete dummy1 2>/dev/null
}

part_run() {
	[ "${RXE_VM:-}" = 1 ] || return 0
	head -c 3000000 /dev/urandom >"$tmp/data"
	step "a second device" second_device
	step "servers with two devices" servers_of_two
	step "connections are spread over both" spread
	step "a port goes down in the middle of copies" port_down
	step "... and comes back" port_up
	step "its interface goes away in the middle of copies" interface_down
	step "servers of two devices end" all_end
	cat "$state"/log/*.log | grep -E 'error|warn' | head -n 20
}
