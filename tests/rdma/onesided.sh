# SPDX-License-Identifier: BSD-2-Clause
# onesided.sh - what clients read by RDMA from iods that sleep.  Sourced by run.sh.
. "$here/servers.sh"

# getsizes: how many of them the iods were sent.
getsizes() {
	timeout 60 pvfs-stats >"$tmp/stats" || return 1
	awk '$3 == "GETSIZE" { n += $4 } END { print n + 0 }' "$tmp/stats"
}

# read_requests: how many READs they were sent.
read_requests() {
	timeout 60 pvfs-stats >"$tmp/stats" || return 1
	awk '$3 == "READ" { n += $4 } END { print n + 0 }' "$tmp/stats"
}

# told COMMAND...: the two numbers of "N of M without" that it prints at last.
told() {
	"$@" </dev/null >"$tmp/told" || { cat "$tmp/told"; return 1; }
	sed -n 's/^\([0-9]*\) of \([0-9]*\) without.*/\1 \2/p' "$tmp/told"
}

ends_rules() { [ "$(timeout 60 lib_ends /pvfs/rules rules </dev/null)" = ok ]; }

# Of three iods; the first questions tell where the ends lie.
ends_asked() {
	local before=$(getsizes) shares n asked

	read -r shares n < <(told timeout 60 lib_ends /pvfs/asked asks 300)
	asked=$(($(getsizes) - before))
	echo "$n ends, $shares read from an iod, $asked requests"
	[ "$n" = 300 ] && [ "$shares" -ge 870 ] && [ "$asked" -le 30 ]
}

# Every answer is judged by the changes that were under way.
ends_race() {
	local shares n

	read -r shares n < <(told timeout 100 lib_ends /pvfs/race race 2 8)
	cat "$tmp/told"
	[ "${shares:-0}" -gt "$n" ]
}

ends_killed() {
	local raced

	timeout 100 lib_ends /pvfs/race race 2 10 </dev/null &
	raced=$!
	sleep 3
	cluster kill-iod 1 && cluster start-iod 1
	wait $raced
}

warm_rules() { [ "$(timeout 100 lib_warm /pvfs/warm rules </dev/null)" = ok ]; }

warm_reads() {
	local before=$(read_requests) shares n asked

	read -r shares n < <(told timeout 60 lib_warm /pvfs/read reads 2000)
	asked=$(($(read_requests) - before))
	echo "$n reads, $shares without a request, $asked requests"
	[ "$n" = 2000 ] && [ "$shares" -ge 1000 ] && [ "$asked" -le 1000 ]
}

warm_race() {
	local shares n

	read -r shares n < <(told timeout 100 lib_warm /pvfs/raced race 2 8)
	cat "$tmp/told"
	[ "${shares:-0}" -gt 100 ]
}

warm_killed() {
	local raced

	timeout 100 lib_warm /pvfs/raced race 2 10 </dev/null &
	raced=$!
	sleep 3
	cluster kill-iod 1 && cluster start-iod 1
	wait $raced
}

part_run() {
	step "servers over verbs" servers_start --set iod.share=4M
	step "ends of objects by RDMA Read: rules" ends_rules
	step "ends of objects by RDMA Read: no requests" ends_asked
	step "ends of objects by RDMA Read while they change" ends_race
	step "ends of objects by RDMA Read while an iod dies" ends_killed
	step "warm reads by RDMA Read: rules" warm_rules
	step "warm reads by RDMA Read: few requests" warm_reads
	step "warm reads by RDMA Read while they change" warm_race
	step "warm reads by RDMA Read while an iod dies" warm_killed
	cat "$state"/log/*.log | grep -E 'error|warn' | head -n 20
}
