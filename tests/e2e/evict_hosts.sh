#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Sessions are evicted while a host is cut off: the client's own from all others, or from the
# manager alone, and an iod's from the manager.  Behind the answer, or the lease of an iod that
# the answer names, nothing of them is written, also when all is whole again.
. "$(dirname "$0")/functions.sh"
requires root
requires tool ip
requires tool python3

net=pvfse$$
hosts=(mgr iod0 iod1 client other)
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
# What the two send to each other is lost, without a word; or not.
declare -A number
cut() {
	must ip -n "$net-$1" neigh replace "10.83.0.${number[$2]}" \
		lladdr 02:00:00:00:00:99 dev eth0 nud permanent
	must ip -n "$net-$2" neigh replace "10.83.0.${number[$1]}" \
		lladdr 02:00:00:00:00:99 dev eth0 nud permanent
}
heal() {
	must ip -n "$net-$1" neigh del "10.83.0.${number[$2]}" dev eth0
	must ip -n "$net-$2" neigh del "10.83.0.${number[$1]}" dev eth0
}

must ip -n "$net-switch" link add sw0 type bridge
must ip -n "$net-switch" link set sw0 up
for i in "${!hosts[@]}"; do
	number[${hosts[i]}]=$((i + 1))
	must add_host "${hosts[i]}" $((i + 1))
done

mkdir -p "$state/log" mgr iod0 iod1
cat >pvfs.conf <<-END
	[filesystem]
	id = 0123456789abcdef
	[mgr]
	address = pvfs://10.83.0.1:3000
	storage = $tmp/mgr
	dead_peer = 4
	lease = 4
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
export PVFSTAB_FILE=$tmp/pvfstab

servers=()
# serve HOST PROGRAM...; ready HOST: until it serves.
serve() {
	local host=$1 log

	log=$(log_of "$host")
	shift
	ip netns exec "$net-$host" "$@" --config "$tmp/pvfs.conf" >"$log" 2>&1 &
	servers+=($!)
}
ready() { until_true 30 grep -q '^[^:]*: info: ready' "$(log_of "$1")"; }
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

# floods NAME: a writer on the host "client" that does not stop; its session is in $id.
floods() {
	expect ok on other pvio write "/pvfs/$1" 0 300000 1
	on client env PATH="$PATH" pvio flood "/pvfs/$1" 300000 >"$1.said" 2>"$1.err" &
	flood=$!
	helpers+=("$flood")
	until_true 30 grep -q holding "$1.said"
	id=$(on other pvfs-evict --list --json /pvfs | python3 -c '
import json, sys
print(*(o["session"] for o in json.load(sys.stdin) if ":pvio" in o["program"]))')
	[ -n "$id" ] || fail "$1: no session"
}
# stays NAME: nothing is written to it but by the next one who opens it; $flood has failed.
stays() {
	wait $flood && fail "$1: the writer goes on"
	grep -Eqx 'ESTALE|ECONNABORTED' "$1.said" || fail "$1: $(cat "$1.said" "$1.err")"
	must on other pvfs-cat "/pvfs/$1" >behind
	cmp before behind || fail "$1: written behind the answer"
	expect ok on other pvio write "/pvfs/$1" 0 300000 7
	expect ok on other pvio check "/pvfs/$1" 0 300000 7
}
before() { must on other pvfs-cat "/pvfs/$1" >before; }

# ---- the client's host is cut off from all ----

floods away
cable client down
expect "1 session evicted" on other pvfs-evict -s "$id" /pvfs
before away
cable client up
stays away

# ---- from the manager alone: it goes on at the iods until it is evicted ----

floods half
cut client mgr
expect "1 session evicted" on other pvfs-evict -s "$id" /pvfs
before half
heal client mgr
stays half

# ---- an iod's from the manager: it is named; its lease passes; it is told before it serves ----

floods iod
cut mgr iod0
on other pvfs-evict -t 2000 -s "$id" /pvfs >said 2>&1 && fail "all have answered: $(cat said)"
grep -q '1 is not over yet' said || fail "$(cat said)"
grep -q 'iod 0 has not said that it knows' said || fail "$(cat said)"
until_true 60 eval 'on other pvfs-evict -t 2000 -J nobodys /pvfs >said 2>&1
	grep -q "iod 0 has not said that it knows.*; only programs that keep" said'
grep -q 'not over yet' said && fail "$(cat said)"
before iod
heal mgr iod0
until_true 60 grep -q "session $id has ended, says the manager" "$(log_of iod0)"
until_true 60 eval 'on other pvfs-evict -J nobodys /pvfs 2>&1 | grep -q "there is no such session"'
stays iod
