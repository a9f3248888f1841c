# SPDX-License-Identifier: BSD-2-Clause
# hosts.sh - a host for each server and group of clients (network namespaces on a switch), and a
# small disk for each store (tmpfs); sourced (bash), needs root.
#
# Two groups of clients are on the host of iod 0, which they reach over shared memory.  A link is
# broken at the switch, so that no end is notified: packets to drop are sent to a device that is
# down.

net= # of this round: as its folder is named
disks=()
hosts=("${managers[@]}" g0)
declare -A address=()

ns() { echo "$net.$1"; }
place() { case $1 in g1|g2) echo 0 ;; *) echo "$1" ;; esac; }
host_of() { echo "${address[$(place "$1")]}"; }
on_host() {
	local where

	where=$(ns "$(place "$1")")
	shift
	exec nsenter --net="/run/netns/$where" -- "$@"
}
switch() { ip -n "$(ns sw)" "$@"; }

add_host() {
	local name=$1 at=10.77.0.$2 where port=v$1

	where=$(ns "$name")
	address[$name]=$at
	ip netns add "$where" &&
		ip link add name "$port" netns "$(ns sw)" type veth \
			peer name eth0 netns "$where" &&
		ip -n "$where" addr add "$at/24" dev eth0 &&
		ip -n "$where" link set eth0 up &&
		ip -n "$where" link set lo up &&
		switch link set dev "$port" master bridge0 up &&
		tc -n "$(ns sw)" qdisc add dev "$port" clsact
}

make_hosts() {
	local k n=1 h

	net=hx${dir##*.}
	for ((k = 0; k < iods; k++)); do hosts+=($k); done
	ip netns add "$(ns sw)" && switch link add name bridge0 type bridge &&
		switch link set dev bridge0 up &&
		switch link add name sink type veth peer name sunk || return 1
	for h in "${hosts[@]}"; do add_host "$h" $((n++)) || return 1; done
}

remove_hosts() {
	local h

	[ -n "$net" ] || return 0
	for h in "${hosts[@]}" sw; do
		ip netns del "$(ns "$h")" 2>/dev/null
	done
	for h in "${disks[@]}"; do umount -l "$h"; done
}

# make_disk NAME MIB
make_disk() {
	mount -t tmpfs -o "size=$2m,mode=755" "pvfs-history" "$dir/$1" || return
	disks+=("$dir/$1")
}

make_disks() {
	local k

	for k in "${managers[@]}"; do make_disk "$k" "$mgr_mib" || return; done
	for ((k = 0; k < iods; k++)); do make_disk iod$k "$iod_mib" || return; done
}

# lose PORT ingress|egress PRIORITY [SOURCE]: drops packets from it, or to it.
lose() {
	local match="u32 0 0" why try

	[ -z "${4:-}" ] || match="ip src $4/32"
	# now and then the kernel refuses it for a moment
	for try in 1 2 3 4 5; do
		# shellcheck disable=SC2086
		why=$(tc -n "$(ns sw)" filter add dev "v$1" "$2" prio "$3" \
			protocol ip u32 match $match action mirred egress \
			redirect dev sink 2>&1) && return
		sleep 0.2
	done
	fail "cannot break the link of $1: $why"
}
mend() { tc -n "$(ns sw)" filter del dev "v$1" "$2" prio "$3" 2>/dev/null; }

# all_of PLACE: mgr stands for all managers.
all_of() { if [ "$1" = mgr ]; then echo "${managers[@]}"; else echo "$1"; fi; }

# part_all part|join A/B
part_all() {
	local a b

	for a in $(all_of "${2%/*}"); do
		for b in $(all_of "${2#*/}"); do part "$1" "$a/$b"; done
	done
}

# isolate part|join MANAGER: from the other managers only.
isolate() {
	local other

	for other in "${managers[@]}"; do
		[ "$other" = "$2" ] || part "$1" "$2/$other"
	done
}

# part A/B, one way each: priority 20 + the place of the other.
part() {
	local a b

	a=$(place "${2%/*}") b=$(place "${2#*/}")
	[ "$a" != "$b" ] || return 0
	case $1 in
	part)	lose "$a" egress $((20 + ${address[$b]##*.})) "${address[$b]}"
		lose "$b" egress $((20 + ${address[$a]##*.})) "${address[$a]}" ;;
	join)	mend "$a" egress $((20 + ${address[$b]##*.}))
		mend "$b" egress $((20 + ${address[$a]##*.})) ;;
	esac
}

# Until there is no byte left; takes space that is freed meanwhile as well.
fill() {
	local at

	at=$(store_of "$1")
	(while :; do cat /dev/zero; sleep 0.1; done >"$at/filler") \
		2>/dev/null &
	fillers[$1]=$!
}
declare -A fillers=()
free() {
	[ -n "${fillers[$1]:-}" ] || return 0
	tell TERM "${fillers[$1]}"
	wait "${fillers[$1]}" 2>/dev/null
	unset "fillers[$1]"
	rm -f "$(store_of "$1")/filler"
}
