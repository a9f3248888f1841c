#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A call has one deadline, however many requests it needs: no call returns much later when servers
# are stopped. TIMES is the number of time-outs that a call may take here, because the machine may
# be busy. LIB_DEADLINES_SHOW=1 prints the time of each call; LIB_DEADLINES_WHO="mgr iod all"
# selects the stopped servers.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

export PVFS_TIMEOUT=${PVFS_TIMEOUT:-1}
start_pvfs -n 3
mgr=$(cluster pid mgr)
iods=$(for k in 0 1 2; do cluster pid $k; done)
for state_of in warm cold; do
	for who in ${LIB_DEADLINES_WHO:-all}; do
		case $who in
		mgr) pids=$mgr ;;
		iod) pids=$(cluster pid 1) ;;
		all) pids="$mgr $iods" ;;
		esac
		# shellcheck disable=SC2086 # a list
		PVFS_LOG=none timeout 550 lib_deadlines /pvfs $state_of \
			"$PVFS_TIMEOUT" "${TIMES:-5}" $pids >"$tmp/late" 2>&1 ||
			fail "$state_of, $who stopped: $(cat "$tmp/late")"
		[ -z "${LIB_DEADLINES_SHOW:-}" ] || {
			say "$state_of, stopped: $who"
			cat "$tmp/late"
		}
	done
done
