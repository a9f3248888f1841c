#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# All managers of a group of one or three are started on old copies of their storages. The iods
# refuse their leader, which ends, and so does each later leader, until elections have raised its
# term above that of the manager that the iods obey.
. "$(dirname "$0")/functions.sh"

unset PVFS_TEST_MANAGERS
conf=$state/pvfs.conf

uri= base= second= third=

# groups N: writes N managers with the storages mgr0 ... to pvfs.conf
groups() {
	local rest k ports=("${uri##*:}" "$second" "$third")

	rest=$(awk '/^\[/ { on = ($0 ~ /^\[mgr/) } !on' "$conf")
	{
		echo "$rest"
		echo "[mgr]"
		for k in $(seq 0 $(($1 - 1))); do
			printf '[mgr.%s]\naddress = %s\nstorage = %s\n' "$k" "$base:${ports[k]}" "$state/mgr$k"
		done
	} >"$tmp/conf"
	cp "$tmp/conf" "$conf"
}

# starts managers 0 to n-1 of the group as processes of this test
start_all() {
	for m in $(seq 0 $((n - 1))); do
		"$PVFS_BUILD/mgr/pvfs-mgr" --config "$conf" --index "$m" >>"$tmp/$1.$m" 2>&1 &
		pids[m]=$!
		helpers+=($!)
	done
}
ended() { ! kill -0 "$1" 2>/dev/null; }
one_ended() { for m in "${!pids[@]}"; do ended "${pids[m]}" && return; done; return 1; }
stop_all() {
	for m in "${!pids[@]}"; do
		kill -KILL "${pids[m]}" 2>/dev/null
		wait "${pids[m]}" 2>/dev/null
	done
}
swap() { for m in $(seq 0 $((n - 1))); do rm -rf "$state/mgr$m" && cp -a "$1.$m" "$state/mgr$m"; done; }
keep() { for m in $(seq 0 $((n - 1))); do rm -rf "$1.$m" && cp -a "$state/mgr$m" "$1.$m"; done; }
works() { expect ok pvio write "/pvfs/$1" 0 300000 "$2" && expect ok pvio check "/pvfs/$1" 0 300000 "$2"; }
all_vote() { [ "$(group_votes)" = "$n" ]; }

test_group() {
	n=$1 pids=()
	say "old copies of $n"
	start_all first
	until_true 120 all_vote
	works before 1
	stop_all
	keep old
	for round in 1 2 3 4; do
		start_all newer$round
		works "newer$round" "$round"
		stop_all
	done
	keep new

	swap old
	start_all outdated
	until_true 120 one_ended
	stop_all
	grep -qhF 'the iods obey a manager with another copy' "$tmp"/outdated.* ||
		fail "it ended: $(tail -n 3 "$tmp"/outdated.*)"

	# the copy has recorded that it was displaced
	rm "$tmp"/outdated.*
	start_all again
	until_true 120 one_ended
	stop_all
	grep -qhF 'was displaced by a manager' "$tmp"/again.* ||
		fail "it ended: $(tail -n 3 "$tmp"/again.*)"

	swap new
	start_all last
	works last 7
	for round in 1 2 3 4; do expect ok pvio check "/pvfs/newer$round" 0 300000 "$round"; done
	grep -lF 'obeys another manager' "$tmp"/last.* && fail "the newer ones were refused"
	stop_all
	rm -rf "$tmp"/*.[012]
}

start_pvfs -n 1
uri=$(conf_value mgr address)
base=${uri%:*}
second=$(free_port) third=$(free_port)
must cluster stop-mgr
mv "$state/mgr" "$state/mgr0"
groups 1
test_group 1
mkdir "$state/mgr1" "$state/mgr2"
groups 3
test_group 3
