# SPDX-License-Identifier: BSD-2-Clause
# cluster.sh - a manager and iods over verbs://, and programs that use them.
# Sourced by run.sh.

state=$tmp/state
export PVFS_BUILD=$build PATH=$build/client/tools:$PATH
export MPIEXEC_PORT_RANGE=9100:9999
# MPI's own traffic: UCX does not end over Soft-RoCE
export UCX_TLS=self,sm,tcp

cluster() { "$top/scripts/cluster" "$@" -d "$state"; }
cp_v() { timeout 60 pvfs-cp -q "$@"; }

# Connected queue pairs of PVFS programs, as the kernel knows them.
pairs() { rdma resource show qp | grep -c 'type RC.*comm pvfs-'; }

# Messages that found no receive, at all ports.
rnr_count() {
	cat /sys/class/infiniband/*/ports/*/hw_counters/{send_rnr_err,out_of_buffer} \
		2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

servers_start() {
	cluster start -n 3 --port 0 --transport verbs || return 1
	grep -h 'verbs: .* GID .*MTU' "$state/log/mgr.log" ||
		{ echo "mgr.log does not tell the GID and the MTU"; return 1; }
	grep -q 'ready: mgr at verbs://' "$state/log/mgr.log" &&
		grep -q 'ready: iod 2 at verbs://' "$state/log/iod2.log"
}

ping_all() {
	timeout 30 pvfs-ping >"$tmp/ping"
	cat "$tmp/ping"
	[ "$(grep -cw 'up .* verbs' "$tmp/ping")" = 4 ]
}

# There and back, of sizes on both sides of each threshold.
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

# The kernel sees their queue pairs: it is the device that carries the data.
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

mpi_test() {
	timeout 60 pvfs-test -c -u -b 300000 -i 2 -f /pvfs/alone &&
		timeout 60 mpiexec -n 2 pvfs-test -c -u -b 100000 -i 2 \
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

# With credits a message always finds a receive.
no_rnr() {
	local now=$(rnr_count)

	echo "$now messages found no receive, $rnr_before before the cluster"
	[ "$now" = "$rnr_before" ]
}

# Clients killed in the middle leave no queue pair behind at the servers.
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
	export PVFSTAB_FILE=$state/pvfstab
	step "pvfs-ping" ping_all
	step "pvfs-cp of many sizes" copies
	step "pvfs-cp of a tree" tree
	step "pvfs-cp, four at once" several_clients
	step "pvfs-test, alone and with mpiexec" mpi_test
	step "an iod dies in the middle of copies" iod_crash
	step "no message without a receive" no_rnr
	step "killed clients leave no queue pair" killed_clients
	step "the end leaves no queue pair" nothing_left
	cat "$state"/log/*.log | grep -E 'error|warn' | head -n 20
}

part_end() {
	cluster stop >/dev/null 2>&1
}
