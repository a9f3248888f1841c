#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# plan - prints the faults of one round, determined only by its seed.
#
# plan.sh SEED SECONDS IODS CLIENTS [KIND...]
#
# Prints lines `MILLISECOND ACTION TARGET`, in order: each fault and its end.  No target has two
# faults at once.  With several managers, mgr is the leader at that time, follower another manager,
# and joiner a manager that gets an empty storage.  KINDs are those of the table below; by default
# those that need neither root nor the shim.
set -u

RANDOM=$(($1 % 32749 + 1))
for ((i = 0; i < $1 / 32749 % 1000; i++)); do : $RANDOM; done
length=$(($2 * 1000))
iods=$3
clients=$4
shift 4
kinds=("$@")
[ $# != 0 ] || kinds=(kill-iod kill-mgr kill-all stop-iod stop-mgr kill-client
	stop-client)
several=0 # managers
case " ${kinds[*]} " in *-follower\ *) several=1 ;; esac
declare -A busy=()

below() { echo $((RANDOM % $1)); }
between() { span=$(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1))); }

# fault ACTION END TARGET FROM TO: for FROM to TO ms, if the target has no other fault
fault() {
	local target=$3

	[ "${busy[$target]:-0}" -lt "$at" ] || return
	between "$4" "$5"
	busy[$target]=$((at + span + 300))
	echo "$at $1 $target"
	echo "$((at + span)) $2 $target"
}

# A fault of everything at once: there is no other fault at that time.
fault_all() {
	local t

	for t in "${!busy[@]}"; do
		[ "${busy[$t]}" -lt "$at" ] || return
	done
	between 100 2500
	for ((t = 0; t < iods; t++)); do busy[$t]=$((at + span + 300)); done
	for t in mgr follower joiner; do busy[$t]=$((at + span + 300)); done
	echo "$at kill all"
	echo "$((at + span)) start all"
}

# lose_session ACTION END TARGET: two clients are stopped for longer than their sessions last.  The
# manager is restarted, so that it hears nothing from them, and meanwhile the fault ACTION prevents
# that it informs an iod.
lose_session() {
	local c1=c$((RANDOM % clients)) c2=c$((RANDOM % clients)) t

	for t in $c1 $c2 mgr "${3%%/*}" "$3"; do
		[ "${busy[$t]:-0}" -lt "$at" ] || return
	done
	between 5000 9000
	for t in $c1 $c2 mgr "${3%%/*}" "$3"; do
		busy[$t]=$((at + span + 900))
	done
	echo "$at stop $c1"
	[ $c2 = $c1 ] || echo "$at stop $c2"
	echo "$((at + 100)) $1 $3"
	echo "$((at + 500)) kill mgr"
	echo "$((at + 700)) start mgr"
	echo "$((at + span)) cont $c1"
	[ $c2 = $c1 ] || echo "$((at + span)) cont $c2"
	echo "$((at + span + 500)) $2 $3"
}

# Chooses short faults as often as those that exceed the deadlines.
one() {
	local iod=$((RANDOM % iods)) client=c$((RANDOM % clients)) long=5000 manager=mgr

	((RANDOM % 2)) && long=900
	[ $several = 0 ] || ((RANDOM % 3)) || manager=follower
	case $1 in
	kill-iod)	fault kill start $iod 50 $long ;;
	kill-mgr)	fault kill start mgr 50 $long ;;
	kill-all)	fault_all ;;
	stop-iod)	fault stop cont $iod 50 $long ;;
	stop-mgr)	fault stop cont mgr 50 $long ;;
	kill-client)	fault kill start $client 10 500 ;;
	stop-client)	fault stop cont $client 100 $((long + 3000)) ;;
	slow-flush)	fault slow quick $iod 500 $long ;;
	bad-flush)	fault bad good $iod 100 1500 ;;
	clock)		fault jump back "$( ((RANDOM % 3)) && echo $iod || echo $manager)" 100 $long ;;
	fill-iod)	fault fill free $iod 300 $long ;;
	fill-mgr)	fault fill free mgr 300 $long ;;
	cut-iod)	fault cut heal $iod 100 $long ;;
	cut-mgr)	fault cut heal mgr 100 $long ;;
	cut-pair)	fault part join "$(pair)" 100 $((long + 3000)) ;;
	lose-full)	lose_session fill free $iod ;;
	lose-cut)	lose_session part join "$iod/mgr" ;;
	lose-slow)	lose_session slow quick $iod ;;
	deaf-iod)	fault deaf hear $iod 100 $long ;;
	kill-follower)	fault kill start follower 50 $long ;;
	stop-follower)	fault stop cont follower 50 $long ;;
	leave-mgr)	fault leave start mgr 50 $long ;;
	transfer)	echo "$at transfer $((RANDOM % 3))" ;;
	replace)	fault wipe start joiner 50 $long ;;
	slow-mgr)	fault slow quick $manager 500 $long ;;
	fill-follower)	fault fill free follower 300 $long ;;
	cut-follower)	fault cut heal follower 100 $long ;;
	deaf-mgr)	fault deaf hear $manager 100 $long ;;
	mute-mgr)	fault mute speak $manager 100 $long ;;
	isolate-mgr)	fault isolate return $manager 300 $((long + 2000)) ;;
	esac
}

# Between two hosts, in one direction or both.
pair() {
	local ends=(mgr g0 g1)

	echo "$((RANDOM % iods))/${ends[RANDOM % 3]}"
}

at=500
while [ $at -lt $((length - 6000)) ]; do
	one "${kinds[RANDOM % ${#kinds[@]}]}"
	between 100 1200
	at=$((at + span))
done | sort -s -n -k 1,1
