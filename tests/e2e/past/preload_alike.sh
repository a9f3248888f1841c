#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls that bypass the mount give the same results as elsewhere, with any kind of bad memory, list,
# offset, length and flag. ALIKE_SEED chooses other calls.
. "$(dirname "$0")/../functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
mount_at "$tmp/m" -o cache=none
seed=${ALIKE_SEED:-1}
[ "${PVFS_TEST_SCHEME:-tcp}" = local ] && how=lent || how=direct
alike() {
	expect alike past timeout 200 "$PVFS_BUILD/tests/e2e/past/pvalike" "$@" ||
		fail "seed $seed"
}
say "seed $seed"
alike "$seed" "${ALIKE_CALLS:-1500}" "$tmp/m/past" "$tmp/elsewhere"
alike "$seed" "${ALIKE_CALLS:-1500}" "$tmp/m/past" "$tmp/m/through" $how
grep -q "pvalike): opens session" "$(log_of mgr)" ||
	fail "it did not go past the mount"
unmount "$tmp/m" $daemon
