# SPDX-License-Identifier: BSD-2-Clause
# onesided.sh - clients read data from the memory of iods by RDMA, without a request that an iod
# would have to answer.  Sourced by run.sh.
. "$here/servers.sh"
. "$here/doors.sh"

# sent OPERATION: prints how many requests of this operation all iods have received.
sent() {
	timeout 60 pvfs-stats >"$tmp/stats" || return 1
	awk -v op="$1" '$3 == op { n += $4 } END { print n + 0 }' "$tmp/stats"
}

# told COMMAND...: prints the two numbers of the line "N of M without", which COMMAND prints at
# its end: N of M calls sent no request.
told() {
	"$@" </dev/null >"$tmp/told" || { cat "$tmp/told"; return 1; }
	sed -n 's/^\([0-9]*\) of \([0-9]*\) without.*/\1 \2/p' "$tmp/told"
}

ends_rules() { [ "$(timeout 60 lib_ends /pvfs/rules rules </dev/null)" = ok ]; }

# A client asks 300 times for the size of a file that three iods hold.  Only the first requests
# are sent, because their replies tell where the ends of the objects lie in the iods' memory.
ends_asked() {
	local before=$(sent GETSIZE) shares n asked

	read -r shares n < <(told timeout 60 lib_ends /pvfs/asked asks 300)
	asked=$(($(sent GETSIZE) - before))
	echo "$n ends, $shares read from an iod, $asked requests"
	[ "$n" = 300 ] && [ "$shares" -ge 870 ] && [ "$asked" -le 30 ]
}

# Processes read the size of a file that another one changes. lib_ends judges each result by the
# changes that were under way.
ends_race() {
	local shares n

	read -r shares n < <(told timeout 100 lib_ends /pvfs/race race 2 8)
	cat "$tmp/told"
	[ "${shares:-0}" -gt "$n" ]
}

# while_an_iod_dies COMMAND...: checks that COMMAND succeeds although iod 1 is killed and started
# again.
while_an_iod_dies() {
	local raced

	timeout 100 "$@" </dev/null &
	raced=$!
	sleep 3
	cluster kill-iod 1 && cluster start-iod 1
	wait $raced
}

warm_rules() { [ "$(timeout 100 lib_warm /pvfs/warm rules </dev/null)" = ok ]; }

warm_reads() {
	local before=$(sent READ) shares n asked

	read -r shares n < <(told timeout 60 lib_warm /pvfs/read reads 2000)
	asked=$(($(sent READ) - before))
	echo "$n reads, $shares without a request, $asked requests"
	[ "$n" = 2000 ] && [ "$shares" -ge 1000 ] && [ "$asked" -le 1000 ]
}

warm_race() {
	local shares n

	read -r shares n < <(told timeout 100 lib_warm /pvfs/raced race 2 8)
	cat "$tmp/told"
	[ "${shares:-0}" -gt 100 ]
}

part_run() {
	step "servers over verbs" servers_start --set iod.share=4M
	step "ends of objects by RDMA Read: rules" ends_rules
	step "ends of objects by RDMA Read: no requests" ends_asked
	step "ends of objects by RDMA Read while they change" ends_race
	step "ends of objects by RDMA Read while an iod dies" \
		while_an_iod_dies lib_ends /pvfs/race race 2 10
	step "warm reads by RDMA Read: rules" warm_rules
	step "warm reads by RDMA Read: few requests" warm_reads
	step "warm reads by RDMA Read while they change" warm_race
	step "warm reads by RDMA Read while an iod dies" \
		while_an_iod_dies lib_warm /pvfs/raced race 2 10
	doors_run
	cat "$state"/log/*.log | grep -E 'error|warn' | head -n 20
}
