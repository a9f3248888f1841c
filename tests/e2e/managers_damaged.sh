#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The log of a manager, or its record of term and vote, is damaged: a bit is flipped, its first
# sector is torn, its end is lost, or it is missing. The manager does not start, and names the file. It is
# replaced and filled while a program works, and no call fails.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 1 --managers 3

. "$e2e/rolling_load.sh"

# flip FILE OFFSET: flips one bit
flip() {
	local byte

	byte=$(od -An -tu1 -j "$2" -N 1 "$1")
	printf "\\x$(printf %02x $((byte ^ 4)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
first_log() { ls "$1"/raft/log.* | head -n 1; }

# damage_KIND STORAGE
damage_vote() { flip "$1/raft/vote" 20; }
damage_log() { flip "$(first_log "$1")" 700; }
damage_torn() { dd if=/dev/zero of="$(first_log "$1")" bs=512 count=1 conv=notrunc status=none; }
damage_end() { # the first batch is in the first 4 KiB
	local file

	file=$(first_log "$1")
	dd if=/dev/zero of="$file" bs=4k seek=1 count=$(($(stat -c %s "$file") / 4096 - 1)) conv=notrunc status=none
}
damage_lost() { rm -r "$1"/raft/log.* "$1/db"; }
declare -A says=([vote]='/raft/vote: ' [log]='is damaged at offset ' [torn]='is damaged at offset '
	[end]='its end is lost' [lost]='has lost the log of its member')

refuses_to_start() {
	local n=$1 from

	from=$(wc -l <"$(log_of "mgr$n")")
	cluster start-mgr "$n" >"$tmp/start" 2>&1 && fail "manager $n starts, although $2 is damaged"
	tail -n +$((from + 1)) "$(log_of "mgr$n")" | grep -qF -- "${says[$2]}" ||
		fail "manager $n does not say '${says[$2]}': $(tail -n 5 "$(log_of "mgr$n")")"
	cluster kill-mgr "$n" >"$tmp/kill" 2>&1
}

until_true 60 all_up
# "end" is first, while the log has one segment
for kind in end vote log torn lost; do
	say "$kind"
	load_goes_on
	n=$((($(leader) + 1) % 3))
	must cluster kill-mgr "$n"
	damage_$kind "$state/mgr$n"
	refuses_to_start "$n" "$kind"
	load_goes_on
	rm -r "$state/mgr$n"
	cluster start-mgr "$n" >"$tmp/start" 2>&1 &
	starts=$!
	manage -w 120 replace "$n" >"$tmp/replaced" 2>&1 || fail "replace: $(cat "$tmp/replaced")"
	wait "$starts" || fail "manager $n does not start: $(cat "$tmp/start")"
	until_true 60 all_up
done
load_goes_on

end_load
