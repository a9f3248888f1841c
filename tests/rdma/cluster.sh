# SPDX-License-Identifier: BSD-2-Clause
# cluster.sh - a manager and iods over verbs, and programs that use them.
# Sourced by run.sh.
. "$here/servers.sh"

cp_v() { timeout 60 pvfs-cp -q "$@"; }

# pairs: prints how many connected queue pairs PVFS programs have, as the kernel counts them.
pairs() { rdma resource show qp | grep -c 'type RC.*comm pvfs-'; }

# rnr_count: prints how many messages at all ports arrived when no receive was posted for them.
rnr_count() {
	cat /sys/class/infiniband/*/ports/*/hw_counters/{send_rnr_err,out_of_buffer} \
		2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

# in_use TRANSPORT REASON: checks that a client reaches all four servers over TRANSPORT, and that
# pvfs-ping gives REASON for it.
in_use() {
	timeout 30 pvfs-ping >"$tmp/ping"
	cat "$tmp/ping"
	[ "$(grep -c " up .* $1 .*${2:-}" "$tmp/ping")" = 4 ] ||
		{ echo "not all over $1 ${2:-}"; return 1; }
}

# mount_with OPTION: lets the following clients use a pvfstab for the same servers with OPTION
# added.
mount_with() {
	sed "s/pvfs port=/pvfs $1,port=/" "$state/pvfstab" >"$tmp/$1"
	export PVFSTAB_FILE=$tmp/$1
}

choice() {
	mount_with fabric=auto && in_use verbs 'local: ' || return 1
	mount_with fabric=strict:verbs && in_use verbs
}

# says TEXT COMMAND...: checks that the output of COMMAND contains TEXT.
says() {
	local text=$1
	shift

	timeout 60 "$@" >"$tmp/said" 2>&1
	grep "$text" "$tmp/said" && return
	cat "$tmp/said"
	echo "not said: $text"
	return 1
}

classes() {
	local PVFSTAB_FILE

	says 'SL 2, traffic class 104$' \
		env PVFS_LOG=debug PVFS_RDMA=sl=2,tc=104 pvfs-ls /pvfs &&
		says 'PVFS_RDMA=tc=256: want' env PVFS_RDMA=tc=256 pvfs-ls /pvfs \
		|| return 1
	mount_with rdma_gid=10.77.0.1,rdma_sl=3,rdma_tc=32
	says 'as configured' env PVFS_LOG=debug pvfs-ls /pvfs &&
		grep 'SL 3, traffic class 32$' "$tmp/said" &&
		says 'SL 2, traffic class 32$' \
			env PVFS_LOG=debug PVFS_RDMA=sl=2 pvfs-ls /pvfs || return 1
	mount_with rdma_gid=10.77.0.9,timeout=2
	says 'and has the GID of rdma_gid' pvfs-ls /pvfs
}

# bulk_bytes: prints how many bytes iod 0 moved over second queue pairs, which carry bulk data
# only. with_pairs: prints how many of its connections have such a second queue pair.
bulk_bytes() { PVFSTAB_FILE=$state/pvfstab metric 0 bulk_connections_bytes; }
with_pairs() { PVFSTAB_FILE=$state/pvfstab metric 0 bulk_connections; }

# Requests and bulk data use separate queue pairs, each with the service level and the traffic
# class that the mount gives it.  Both queue pairs of a connection end with a killed client, and
# with an iod that dies.
two_classes() {
	local PVFSTAB_FILE before=$(bulk_bytes) after

	[ "$(with_pairs)" = 0 ] || return 1
	mount_with rdma_sl=1,rdma_tc=32,rdma_bulk_sl=3,rdma_bulk_tc=104
	says 'SL 3, traffic class 104$' \
		env PVFS_LOG=debug pvfs-cp -q --verify "$tmp/data" /pvfs/apart &&
		grep 'SL 1, traffic class 32$' "$tmp/said" &&
		grep 'bulk data over a connection of its own' "$tmp/said" &&
		! grep 'no second connection' "$tmp/said" || return 1
	after=$(bulk_bytes)
	echo "$after bytes over pairs for bulk data, $before before"
	[ $((after - before)) -ge 3000000 ] || return 1
	copies && tree_again && iod_crash && killed_clients || return 1
	PVFS_RENDEZVOUS=adaptive timeout 60 pvfs-test -c -u -b 300000 -i 2 \
		-f /pvfs/both || return 1
	echo "$(with_pairs) connections have two pairs"
	[ "$(with_pairs)" = 0 ]
}

# A client that may lock only 64 KiB of memory says that the limit is to be raised.  Root's
# programs have no such limit, so for root the capability CAP_IPC_LOCK is removed.
memlock() {
	local PVFSTAB_FILE

	mount_with timeout=5
	[ "$(id -u)" = 0 ] && set -- setpriv --bounding-set=-ipc_lock
	says 'the limit of locked memory is 64 KiB; raise it' "$@" \
		prlimit --memlock=65536:65536 pvfs-ls /pvfs
}

# Copies files to PVFS and back.  Their sizes lie on both sides of each threshold at which a
# transfer takes another way.
copies() {
	local size

	for size in 0 200 4097 65537 5000000; do
		head -c $size "$tmp/data" >"$tmp/one"
		cp_v --verify "$tmp/one" /pvfs/one || return 1
		cp_v /pvfs/one "$tmp/back" || return 1
		cmp "$tmp/one" "$tmp/back" || return 1
	done
}

tree() {
	mkdir -p "$tmp/tree/a/b" && head -c 100000 "$tmp/data" >"$tmp/tree/a/f" &&
		head -c 10 "$tmp/data" >"$tmp/tree/a/b/g" &&
		cp_v -r "$tmp/tree" /pvfs/tree && cp_v -r /pvfs/tree "$tmp/tree2" &&
		diff -r "$tmp/tree" "$tmp/tree2"
}

tree_again() {
	rm -rf "$tmp/tree3" && cp_v -r /pvfs/tree "$tmp/tree3" &&
		diff -r "$tmp/tree" "$tmp/tree3"
}

# Four clients copy at once.  The kernel must show their queue pairs, which proves that the device
# carries the data.
several_clients() {
	local i seen=0 pids=()

	for i in 1 2 3 4; do
		cp_v --verify "$tmp/data" /pvfs/many$i & pids+=($!)
	done
	while [ "$seen" -le "$pairs_before" ] && kill -0 "${pids[0]}"; do
		seen=$(pairs)
	done 2>/dev/null
	for i in "${pids[@]}"; do wait "$i" || return 1; done
	echo "$seen queue pairs during the copies, $pairs_before before"
	[ "$seen" -gt "$pairs_before" ]
}

# resident: prints the memory that the process of iod 0 occupies, in KiB.
resident() {
	sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(cluster pid 0)/status"
}

# crowd_of N CLIENTS: starts program number N, which opens CLIENTS sessions at iod 0, and waits
# until all their requests were answered.  Soft-RoCE's completion queues are too short for more
# than 100 sessions in one process.
crowd_of() {
	local out=$tmp/crowd$1 try address

	address=$(sed -n '/^\[iod.0\]/,$s/^address *= *pvfs:/verbs:/p' \
		"$state/pvfs.conf" | head -n 1)
	"$build/tests/rdma/crowd" "$address" "$2" <"$tmp/crowd" >"$out" &
	crowds+=($!)
	for try in {1..300}; do
		[ -s "$out" ] && break
		sleep 0.2
	done
	grep "^$2 clients, $(($2 * 32)) answers" "$out"
}

# 256 clients send 32 requests each to iod 0, several at once; all their connections share at most
# 2048 receives.  Then they are idle, and the test prints the memory that one client takes.  No
# connection may remain when they have ended.
crowd() {
	local rss=$(resident) bytes=$(metric 0 clients_bytes) try
	local before=$(metric 0 connections)
	local crowds=() now rc=0

	mkfifo "$tmp/crowd"
	exec 6<>"$tmp/crowd"
	for try in 1 2 3 4; do crowd_of $try 64 || rc=1; done
	now=$(metric 0 connections)
	[ "$now" -ge $((before + 256)) ] && [ "$(metric 0 receives_shared)" -le 2048 ] || rc=1
	echo "a client: $((($(metric 0 clients_bytes) - bytes) / 256)) bytes counted," \
		"$((($(resident) - rss) * 4)) of the process," \
		"$(($(rnr_count) - rnr_before)) messages waited for a receive"
	echo end >&6
	exec 6>&-
	for try in "${crowds[@]}"; do wait "$try" || rc=1; done
	for try in {1..100}; do
		now=$(metric 0 connections)
		[ "$now" -gt "$before" ] || break
		sleep 0.2
	done
	echo "$now connections after, $before before"
	[ "$now" -le "$before" ] && [ $rc = 0 ]
}

# With PVFS_RENDEZVOUS=adaptive clients move the data of large transfers themselves, by RDMA Read
# and Write on buffers that the iods assign to them.
rendezvous() {
	local before=$(metric 0 bulk_carried) after i pids=()

	for i in 1 2; do
		{ PVFS_RENDEZVOUS=adaptive cp_v "$tmp/data" /pvfs/carried$i &&
			PVFS_RENDEZVOUS=adaptive cp_v /pvfs/carried$i "$tmp/back$i" &&
			cmp "$tmp/data" "$tmp/back$i"; } & pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || return 1; done
	PVFS_RENDEZVOUS=adaptive timeout 60 pvfs-test -c -u -b 300000 -i 2 \
		-f /pvfs/carried || return 1
	after=$(metric 0 bulk_carried)
	echo "$after parts moved by clients, $before before"
	[ "$before" = 0 ] && [ "$after" -ge 20 ]
}

mpi_test() {
	timeout 60 pvfs-test -c -u -b 300000 -i 2 -f /pvfs/alone &&
		timeout 60 mpiexec.mpich -n 2 pvfs-test -c -u -b 100000 -i 2 \
			-f /pvfs/mpi
}

copy_often() {
	local i

	for i in 1 2 3; do
		cp_v --verify "$tmp/data" /pvfs/crash$i || return 1
	done
}

iod_crash() {
	local copies

	copy_often &
	copies=$!
	sleep 0.7
	cluster kill-iod 1 && cluster start-iod 1
	wait $copies
}

some() { metric_above 0 0 "$1" || { pvfs-stats -i; return 1; }; }

# pvpin maps, unmaps and moves memory and forks between transfers.  Data must be right with the
# cache of memory registrations, where some must be found again, and without it.
torture() {
	PVFS_PIN_CACHE=on PVFS_LOG=info timeout 100 pvpin /pvfs 3 80 \
		>"$tmp/pins" 2>&1 || { tail -n 20 "$tmp/pins"; return 1; }
	grep 'registrations: [1-9][0-9]* found' "$tmp/pins" ||
		{ cat "$tmp/pins"; echo "none was found again"; return 1; }
	PVFS_PIN_CACHE=off timeout 100 pvpin /pvfs 2 20
}

# The port of the device goes down and up while a client works.  The client must succeed, and all
# four servers must log that the port is active again.  The network device only loses its carrier:
# if it were set down, Soft-RoCE would never again send a message of the connection manager.
flap() {
	local before=$(pairs) client try told

	timeout 60 pvfs-test -c -u -b 300000 -i 15 -f /pvfs/flap &
	client=$!
	for try in {1..50}; do
		[ "$(pairs)" -gt "$before" ] && break
		sleep 0.1
	done
	ip link set dummy0 carrier off && sleep 0.5 &&
		ip link set dummy0 carrier on
	wait $client || return 1
	for try in {1..50}; do
		told=$(cat "$state"/log/*.log | grep -c 'port 1: port active')
		[ "$told" -ge 4 ] && break
		sleep 0.1
	done
	[ "$told" = 4 ] ||
		{ cat "$state"/log/*.log; echo "not all were told"; return 1; }
}

# When the device is removed, all servers log it, and iod 2, which listens on tcp as well, is
# reached over tcp.
device_removed() {
	local server try address

	timeout 60 rdma link delete rxe0 &
	for server in mgr iod0 iod1 iod2; do
		for try in {1..50}; do
			grep -q 'device was removed' "$(log_of $server)" && break
			sleep 0.2
		done
		grep 'device was removed' "$(log_of $server)" || return 1
	done
	address=$(sed -n '/^\[iod.2\]/,$s/^address *= *//p' "$state/pvfs.conf")
	says ' up .* tcp ' pvfs-ping "$address"
}

# ticks: prints the processor time of all servers, in hundredths of a second.
ticks() {
	local pid rest

	for pid in "$state"/run/*.pid; do
		read -r pid rest <"$pid"
		cat "/proc/$pid/stat"
	done | sed 's/.*) //' | awk '{ n += $12 + $13 } END { print n }'
}

# Idle servers take less than 1 s of processor time in 3 s.  A file descriptor that stays readable
# would keep one thread busy, which takes all 3 s.
no_spin() {
	local before=$(ticks) after

	sleep 3
	after=$(ticks)
	echo "$((after - before)) ticks in 3 s"
	[ $((after - before)) -lt 100 ]
}

# Flow control by credits must ensure that a receive is posted for each message.
no_rnr() {
	local now=$(rnr_count)

	echo "$now messages found no receive, $rnr_before before the cluster"
	[ "$now" = "$rnr_before" ]
}

# Clients that are killed while they copy leave no queue pair behind at the servers.
killed_clients() {
	local before=$(pairs) i

	for i in 1 2 3 4; do
		pvfs-cp -q "$tmp/data" /pvfs/killed$i &
		sleep 0.3
		kill -9 $!
		wait $!
	done 2>/dev/null
	for i in {1..100}; do
		[ "$(pairs)" -gt "$before" ] || return 0
		sleep 0.2
	done
	rdma resource show qp
	echo "$(pairs) queue pairs, $before before"
	return 1
}

# The device reads and writes the memory of processes that SIGSTOP stopped.  So the iods hold no
# buffers for such clients; their connections stay, and they go on afterwards.
stopped_clients() {
	local client try held

	mkfifo "$tmp/hold"
	pvkill /pvfs 2 stop <"$tmp/hold" >"$tmp/stopped" &
	client=$!
	exec 5>"$tmp/hold"
	for try in {1..300}; do
		grep -q 'stopped 2' "$tmp/stopped" && break
		sleep 0.1
	done
	for try in {1..50}; do
		held=$(metric 0 zone_used)
		[ "$held" = 0 ] && break
		sleep 0.1
	done
	exec 5>&-
	wait $client || { echo "they do not go on"; return 1; }
	echo "$held buffers are held for those that were stopped"
	[ "$held" = 0 ]
}

# Four processes draw numbers from a counter by atomic operations of the device.  No number may be
# drawn twice, and the iods get less than one request for two numbers.
counters() {
	local before asked got twice

	before=$(requests_at_iods)
	(cd "$tmp" && timeout 60 lib_counter /pvfs/counted count 4 2 </dev/null) ||
		return 1
	asked=$(($(requests_at_iods) - before))
	got=$(grep -hv left "$tmp"/counted.* | wc -l)
	twice=$(grep -hv left "$tmp"/counted.* | sort | uniq -d | wc -l)
	echo "$got numbers, $twice of them twice, $asked requests"
	[ "$twice" = 0 ] && [ "$got" -gt 10 ] && [ "$asked" -lt $((got / 2)) ]
}

nothing_left() {
	cluster stop && [ "$(pairs)" -le "$pairs_before" ] && return
	rdma resource show qp
	echo "$(pairs) queue pairs are left"
	return 1
}

part_run() {
	head -c 6000000 /dev/urandom >"$tmp/data"
	rnr_before=$(rnr_count)
	pairs_before=$(pairs)
	step "servers over verbs" servers_start
	step "a client chooses verbs, and says why" choice
	step "service level and traffic class" classes
	step "too little memory may be locked" memlock
	step "pvfs-cp of many sizes" copies
	step "pvfs-cp of a tree" tree
	step "pvfs-cp, four at once" several_clients
	step "clients move the data themselves" rendezvous
	step "pvfs-test, alone and with mpiexec" mpi_test
	step "memory comes and goes between transfers" torture
	step "small writes went by Fast RDMA" some fast
	step "large reads ended with their last RDMA Write" some bulk_unanswered
	step "counters by atomics of the device" counters
	step "an iod dies in the middle of copies" iod_crash
	step "no message without a receive" no_rnr
	step "requests and bulk data in classes of their own" two_classes
	step "256 clients share receives" crowd
	step "killed clients leave no queue pair" killed_clients
	step "stopped clients hold no buffers" stopped_clients
	[ "${RXE_VM:-}" != 1 ] || step "the port goes down and up" flap
	[ "${RXE_VM:-}" != 1 ] || step "the device is removed" device_removed
	step "idle servers sleep" no_spin
	step "the end leaves no queue pair" nothing_left
	cat "$state"/log/*.log | grep -E 'error|warn' | head -n 20
}
