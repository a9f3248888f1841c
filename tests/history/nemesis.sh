# SPDX-License-Identifier: BSD-2-Clause
# nemesis.sh - executes a plan of faults; sourced (bash).

declare -A done_of=()

server_names() { local k; echo "${managers[@]}"; for ((k = 0; k < iods; k++)); do echo $k; done; }

# note ACTION TARGET: records the action and its time.
note() {
	local up

	uptime_s
	echo "$up $1 $2" >>"$dir/nemesis.log"
	done_of[$1]=$((${done_of[$1]:-0} + 1))
}

kill_one() {
	tell KILL "${pid[$1]:-}"
	wait "${pid[$1]}" 2>/dev/null
	unset "pid[$1]" "stopped[$1]"
}

# SIGTERM: a leader hands over before it ends.
leave_one() {
	local n

	tell TERM "${pid[$1]:-}"
	for ((n = 0; n < 500; n++)); do
		ours "${pid[$1]:-0}" || break
		pause 0.02
	done
	ours "${pid[$1]:-0}" && fail "server $1 does not stop"
	wait "${pid[$1]}" || fail "server $1 stopped with status $?"
	unset "pid[$1]"
}

start_one() {
	case $1 in
	c*)	start_client "$1" ;;
	*)	start_server "$1" ;;
	esac
}

# one_of TARGET: sets who to a manager without a fault: for mgr the leader, if possible; empty if
# there is none.
one_of() {
	local m other=()

	who=
	for m in "${managers[@]}"; do
		[[ " ${meant[*]} " != *" $m "* ]] || continue
		[ "$1-$m" != joiner-m0 ] || continue # empty, it may found a group
		if [ -n "${pid[$m]:-}" ] && leads "$m"; then who=$m; else other+=("$m"); fi
	done
	case $1 in
	mgr)	[ -z "$who" ] || return ;;
	joiner)	[ -z "$who" ] || other+=("$who") ;;
	esac
	[ ${#other[@]} = 0 ] || who=${other[RANDOM % ${#other[@]}]}
}

# find_target ACTION TARGET: sets who, or makes it empty.  The end of a fault applies to the server
# of its beginning.
find_target() {
	who=$2
	case $2 in mgr|follower|joiner) ;; *) return ;; esac
	[ ${#managers[@]} != 1 ] || return
	who=${meant[$2]:-}
	case " start cont ${ends[*]} " in
	*" $1 "*)	unset "meant[$2]"; return ;;
	esac
	[ -z "$who" ] || return
	# the group cannot lose a second storage before a new member has replaced the first one
	[ "$2" != joiner ] || [ -z "$replaced" ] || return
	one_of "$2"
	meant[$2]=$who
}
declare -A meant=()

act() {
	local s who

	find_target "$1" "$2"
	[ -n "$who" ] || return
	note "$1" "$who"
	set -- "$1" "$who"
	case $1-$2 in
	kill-all)	for s in $(server_names); do kill_one "$s"; done ;;
	start-all)	for s in $(server_names); do start_one "$s"; done ;;
	kill-*)		kill_one "$2"; killed[$2]=1 ;;
	start-*)	unset "killed[$2]"; [ -n "${pid[$2]:-}" ] || start_one "$2" ;;
	wipe-*)		wipe "$2"; killed[$2]=1 ;;
	transfer-*)	transfer "$2" ;;
	leave-*)	leave_one "$2"; killed[$2]=1 ;;
	stop-*)		tell STOP "${pid[$2]:-}" && stopped[$2]=1 ;;
	cont-*)		tell CONT "${pid[$2]:-}"
			unset "stopped[$2]" ;;
	*)		act_more "$1" "$2" ;;
	esac
}
declare -A killed=() broken=()

# Actions that need separate hosts and disks, or the shim.
act_more() {
	case $1 in
	cut|deaf|mute|part|isolate|fill|slow|bad|jump)	broken[$2]=${ends[$1]} ;;
	*)	unset "broken[$2]" ;;
	esac
	case $1 in
	cut)	lose "$2" ingress 1; lose "$2" egress 1 ;;
	heal)	mend "$2" ingress 1; mend "$2" egress 1 ;;
	deaf)	lose "$2" egress 1 ;;
	hear)	mend "$2" egress 1 ;;
	mute)	lose "$2" ingress 1 ;;
	speak)	mend "$2" ingress 1 ;;
	part|join)	part_all "$1" "$2" ;;
	isolate)	isolate part "$2" ;;
	return)	isolate join "$2" ;;
	fill)	fill "$2" ;;
	free)	free "$2" ;;
	slow)	set_shim "$2" 1500 0 0 ;;
	bad)	set_shim "$2" 0 1 0 ;;
	jump)	set_shim "$2" 0 0 $(((${#2} % 2 ? 1 : -1) * 100000)) ;;
	quick|good|back)	set_shim "$2" 0 0 0 ;;
	*)	fail "the plan has $1 $2, which is not known" ;;
	esac
}
declare -A ends=([cut]=heal [deaf]=hear [mute]=speak [part]=join [isolate]=return [fill]=free [slow]=quick
	[bad]=good [jump]=back)

# set_shim SERVER MS FAILS SECONDS: see shim.c; overwrites the file, because the server has it
# mapped
set_shim() { printf '%-20s %-20s %-20s ' "$2" "$3" "$4" 1<>"$dir/shim.$1"; }

# Replaces clients that exit sometimes; servers must not exit.
supervise() {
	local who code

	for who in "${!pid[@]}"; do
		ours "${pid[$who]}" && continue
		wait "${pid[$who]}"
		code=$?
		unset "pid[$who]"
		case $who in
		c*)	[ $code = 0 ] || fail "client ${writer_of[$who]} ($who)" \
				"ended by itself: $code"
			[ "$ending" ] || start_client "$who" ;;
		replace|transfer)	ordered "$who" $code ;;
		*)	fail "server $who ended by itself: $code" ;;
		esac
	done
}

# nemesis PLAN: executes the plan to its last line.
nemesis() {
	local at action target up start_ms now

	uptime_s
	start_ms=$((10#${up/./} * 10))
	while read -r at action target; do
		while uptime_s; now=$((10#${up/./} * 10 - start_ms))
		[ $now -lt "$at" ]; do
			supervise
			pause 0.02
		done
		act "$action" "$target"
	done <"$1"
}

# Ends all faults that remain.
heal_all() {
	local who

	for who in "${!broken[@]}"; do act "${broken[$who]}" "$who"; done
	for who in "${!stopped[@]}"; do act cont "$who"; done
	for who in $(server_names); do
		[ -n "${pid[$who]:-}" ] || act start "$who"
	done
}
