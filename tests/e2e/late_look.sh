#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program computes for longer than the time limit of its calls (each some seconds: a disk may be
# busy).  It finds the answers that came in time: none is given up or logged.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 1
PVFS_TIMEOUT=4 pvio compute /pvfs/file 5000 >"$tmp/out" 2>"$tmp/err" ||
	fail "failed: $(cat "$tmp/out" "$tmp/err")"
[ ! -s "$tmp/err" ] || fail "logged: $(cat "$tmp/err")"
