#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program computes for longer than the time-out of its calls (several seconds, because a disk may
# be busy). Its calls then succeed with the replies that arrived in time; none times out or is
# logged.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 1
PVFS_TIMEOUT=4 pvio compute /pvfs/file 5000 >"$tmp/out" 2>"$tmp/err" ||
	fail "failed: $(cat "$tmp/out" "$tmp/err")"
[ ! -s "$tmp/err" ] || fail "logged: $(cat "$tmp/err")"
