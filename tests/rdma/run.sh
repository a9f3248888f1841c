#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# run.sh BUILD PART... - the verbs provider on a machine with an RDMA device: its
# contract (contract), a whole file system over verbs:// (cluster), what its clients
# read by themselves (onesided), a checked history (history), a file system with two
# devices (rails), MPI-IO on one (romio).
# scripts/test runs it in rxe-vm, or on this host if it has a device itself.
#
# Prints "result pass|fail COUNT NAME: SECONDS or WHY" for each test, and "result end" when a part
# has ended.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=$(cd "${1:?usage: run.sh BUILD PART...}" && pwd) || exit 2
if [ $# -gt 2 ]; then
	shift
	for part; do timeout -k 10 420 "$here/run.sh" "$build" "$part"; done
	exit
fi
tmp=$(mktemp -d)

# passed COUNT NAME SINCE, failed COUNT NAME WHY: print the result of COUNT test cases.  SINCE is
# the value of SECONDS at their start.
passed() { echo "result pass $1 $2: $((SECONDS - $3)) s"; }
failed() { echo "result fail $1 $2: $3"; }

# step NAME COMMAND...: runs COMMAND as one test, which passes if COMMAND returns 0.
step() {
	local name=$1 since=$SECONDS
	shift

	if "$@" >"$tmp/step" 2>&1; then
		passed 1 "$name" $since
	else
		tail -n 20 "$tmp/step"
		failed 1 "$name" "$(tail -n 1 "$tmp/step")"
	fi
}

case ${2:-} in
contract|cluster|onesided|history|rails|romio)	. "$here/$2.sh" ;;
*)			echo "no part '${2:-}'" >&2; exit 2 ;;
esac
trap 'part_end; rm -rf "$tmp"' EXIT
part_run
echo "result end"
