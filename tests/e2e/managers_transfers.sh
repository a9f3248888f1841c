#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two of three managers hand the leadership to each other repeatedly, while a client creates files.
# No call fails, and the managers keep neither descriptors nor memory of earlier terms.
# PVFS_TEST_TRANSFERS is the number of times that each of the two loses the leadership.
. "$(dirname "$0")/functions.sh"

rounds=${PVFS_TEST_TRANSFERS:-10}
start_pvfs -n 1 --managers 3

. "$e2e/rolling_load.sh"

# hands_over N: to manager N, which has just handed over and restarted.
leads() { [ "$(find_leader)" = "$1" ]; }
hands_over() {
	must pvfs-managers -t 240000 transfer "$(conf_value "mgr.$1" address)" /pvfs >"$tmp/transfer"
	until_true 60 leads "$1"
	load_goes_on 1
}
back_and_forth() { # TIMES
	local n

	for ((n = 0; n < $1; n++)); do
		hands_over "$b"
		hands_over "$a"
	done
}
descriptors() { ls "/proc/$1/fd" | wc -l; }
memory() { awk '/^RssAnon/ { print $2 }' "/proc/$1/status"; }
# Some connections may be opening or closing.
few=8
keeps_no_descriptors() { [ "$(descriptors "$1")" -le $((had_fds[$1] + few)) ]; }

a=$(leader)
b=$(((a + 1) % 3))
declare -A pid had_fds had_kib
for n in $a $b; do pid[$n]=$(cluster pid "mgr.$n"); done
back_and_forth 5 # caches and buffers reach their size
for n in $a $b; do
	had_fds[${pid[$n]}]=$(descriptors "${pid[$n]}")
	had_kib[$n]=$(memory "${pid[$n]}")
done
back_and_forth "$rounds"

end_load
for n in $a $b; do
	expect "${pid[$n]}" cluster pid "mgr.$n"
	until_true 60 keeps_no_descriptors "${pid[$n]}"
	say "manager $n: ${had_fds[${pid[$n]}]} descriptors, now $(descriptors "${pid[$n]}");" \
		"${had_kib[$n]} KiB, now $(memory "${pid[$n]}")"
	# the log in memory, up to 16 MiB until the next checkpoint and 8 MiB after it, and 256 KiB
	# for each time; a sanitizer keeps freed memory
	[ "$sanitized" = 1 ] || [ "$(memory "${pid[$n]}")" -le $((had_kib[$n] + 24576 + 256 * rounds)) ] ||
		fail "manager $n has grown from ${had_kib[$n]} KiB to $(memory "${pid[$n]}") KiB"
done
