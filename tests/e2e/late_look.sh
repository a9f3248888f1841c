#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that computes for longer than its calls may take finds answers
# that came in time: none is given up, nothing is logged.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 1
PVFS_TIMEOUT=1 pvio compute /pvfs/file 1500 >"$tmp/out" 2>"$tmp/err" ||
	fail "failed: $(cat "$tmp/out" "$tmp/err")"
[ ! -s "$tmp/err" ] || fail "logged: $(cat "$tmp/err")"
