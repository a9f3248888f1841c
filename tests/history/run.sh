#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run - runs rounds of the history test until the time is up, each with the next seed.
#
# run.sh SECONDS [SEED]
#
# PVFS_BUILD names the build (a release one).  Prints a line for each round, and the sums at the
# end.  HISTORY_JOBS is the number of concurrent rounds (1), and HISTORY_ROUND the seconds of one
# (50).  HISTORY_TRUST=turns: every second round with auth = munge and seal = auth; munge: each.
# HISTORY_MANAGERS=turns: two rounds with one manager, then two with three; 3: each with three.
# Exit status 1: a round failed.
set -u

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
seconds=${1:?how long}
seed=${2:-$((RANDOM * 32768 + RANDOM))}
round_s=${HISTORY_ROUND:-50}
jobs=${HISTORY_JOBS:-1}
rounds=0
failed=0
turns=
turn=('' munge)
[ "${HISTORY_TRUST:-}" != turns ] || turns=1
manager_turns=
[ "${HISTORY_MANAGERS:-}" != turns ] || manager_turns=1
declare -A sum=() seed_of=() # by the process of a round

stop() {
	kill "${!seed_of[@]}" 2>/dev/null
	wait
	rm -rf "$out"
	exit 130
}

# add_up LINE: adds the counts in the line of a round
add_up() {
	local word last=

	for word in $1; do
		case $word in
		*=*[0-9])	sum[${word%=*}]=$((${sum[${word%=*}]:-0} + ${word#*=})) ;;
		*[!0-9]*|'')	;;
		*)	case $last in
			calls|answered|failed|killed|violations)
				sum[$last]=$((${sum[$last]:-0} + word)) ;;
			esac ;;
		esac
		last=$word
	done
}

[ "$(id -u)" = 0 ] || echo "skip: without root there are no links to cut and" \
	"no disks to fill; the rest is done"
out=$(mktemp -d "${TMPDIR:-/tmp}/pvfs-history.XXXXXX") || exit 1
trap stop INT TERM

begin_round() {
	[ -z "$turns" ] || export HISTORY_TRUST=${turn[seed % 2]}
	[ -z "$manager_turns" ] || export HISTORY_MANAGERS=$((seed / 2 % 2 ? 3 : 1))
	"$here/round.sh" "$seed" "$round_s" >"$out/$seed" 2>&1 &
	seed_of[$!]=$seed
	seed=$((seed + 1))
}

end_round() {
	local pid n

	wait -n -p pid || failed=$((failed + 1))
	n=${seed_of[$pid]}
	unset "seed_of[$pid]"
	cat "$out/$n"
	add_up "$(grep "^round $n:" "$out/$n")"
	rm -f "$out/$n"
	rounds=$((rounds + 1))
}

began=$SECONDS
while [ $((rounds + ${#seed_of[@]})) = 0 ] ||
	[ $((SECONDS - began + round_s)) -le "$seconds" ]; do
	begin_round
	[ ${#seed_of[@]} -lt "$jobs" ] || end_round
done
while [ ${#seed_of[@]} != 0 ]; do end_round; done
rm -rf "$out"
echo
echo "rounds $rounds failed $failed seconds $((SECONDS - began))"
for what in calls answered failed killed violations; do
	echo "  $what ${sum[$what]:-0}"
done
echo "faults, and their ends:"
for what in "${!sum[@]}"; do
	case $what in calls|answered|failed|killed|violations) continue ;; esac
	echo "  $what ${sum[$what]}"
done | sort
[ $failed = 0 ]
