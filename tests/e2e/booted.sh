#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A real systemd boots the units, in their sandbox (boot_systemd, booted_inside).
. "$(dirname "$0")/functions.sh"
requires root

export E2E_HERE=$tmp
timeout -k 10 400 "$e2e/boot_systemd" "$tmp" bash "$e2e/booted_inside" </dev/null >"$tmp/booted" 2>&1
code=$?
grep '^booted: ' "$tmp/booted"
[ $code != 77 ] || skip "$(sed -n 's/^skip: //p' "$tmp/booted")"
[ $code = 0 ] || {
	tail -n 60 "$tmp/booted"
	fail "exit $code"
}
