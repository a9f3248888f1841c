# SPDX-License-Identifier: BSD-2-Clause
# contract.sh - runs the contract suite over verbs, one process for each of its chapters and two
# processes at a time.  Sourced by run.sh.

chapter_seconds=120
# The chapters that take longest come first.  The provider fault+, which adds faults to any other
# provider, runs only some of them.
chapters='verbs/many verbs/threads verbs/access verbs/killed verbs/fork
	verbs/rdma verbs/close verbs/atomic verbs/volatile verbs/wait
	verbs/message verbs/bulk fault+verbs/close fault+verbs/message
	verbs/device verbs/connect fault+verbs/connect verbs/limits
	verbs/shared'

# chapter PROVIDER/NAME: runs one chapter and reports its passed and failed cases to scripts/test.
chapter() {
	local provider=${1%/*} out=$tmp/${1//\//-} ran=0 bad=0 rc
	local since=$SECONDS checks
	checks='s/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: '
	checks+='\([0-9]*\)$/\1 \2 \3/p'

	CK_RUN_CASE=${1#*/} timeout -k 5 $chapter_seconds \
		"$build/tests/contract/contract" "$provider" >"$out" 2>&1
	rc=$?
	set -- "$1" $(sed -n "$checks" "$out")
	[ $# -lt 4 ] || ran=$2 bad=$(($3 + $4))
	[ "$ran" -le "$bad" ] || passed $((ran - bad)) "contract $1" $since
	[ $rc != 0 ] || [ "$ran" = 0 ] || return 0
	[ $rc != 124 ] || echo "took longer than $chapter_seconds s" >>"$out"
	tail -n 20 "$out"
	failed $((bad > 0 ? bad : 1)) "contract $1" \
		"$(tail -n 1 "$out") (exit status $rc)"
}

part_run() {
	# An emulated machine is slow: fewer rounds, smaller transfers.
	[ "${RXE_VM:-}" != 1 ] ||
		export CONTRACT_DIVIDE=${CONTRACT_DIVIDE:-32}
	export -f chapter passed failed
	export build tmp chapter_seconds
	xargs -n 1 -P 2 bash -c 'chapter "$1"' - <<<"$chapters"
}

part_end() { :; }
