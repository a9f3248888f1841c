#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients die in the middle of their transfers, by hundreds (KILLED_CLIENTS):
# afterwards the iods and the manager hold as much as before the first of them:
# sessions, registrations, Fast RDMA and zone buffers, descriptors.
. "$(dirname "$0")/functions.sh"

count=${KILLED_CLIENTS:-200}

# What an iod says on SIGUSR1, of that what may not grow.
report() {
	local log pid threads=2 n

	log=$(log_of "iod$1")
	pid=$(cluster pid "$1")
	n=$(wc -l <"$log")
	kill -USR1 "$pid"
	until_true 20 eval \
		"[ \"\$(tail -n +$((n + 1)) '$log' | grep -c 'in use:')\" = $threads ]"
	tail -n +$((n + 1)) "$log" | sed -nE \
		-e 's/.* info: ([0-9]+ sessions), .*/\1/p' \
		-e 's/.* ([0-9]+ KiB registered with .*)/\1/p' \
		-e 's/.* ([0-9]+ KiB of buffers), .*connections.*/fast: \1/p' \
		-e 's/, at most [0-9]+//g; s/.*(thread [0-9]+):.*; in use:/\1:/p' | sort
	# objects stay open for the next request
	echo "descriptors: $(ls -l "/proc/$pid/fd" | grep -vc /objects/)"
}
held() {
	report 0
	report 1
	echo "mgr descriptors: $(ls "/proc/$(cluster pid mgr)/fd" | wc -l)"
}

settled() {
	held >"$tmp/now"
	diff "$tmp/before" "$tmp/now" >"$tmp/diff"
}
no_sessions() {
	held >"$tmp/before"
	[ "$(grep -c '^[01] sessions' "$tmp/before")" = 2 ]
}

# Mappings of objects stay on purpose; how many there are is chance.
start_pvfs -n 2 --set mgr.session_timeout=1 --set iod.map_size=0 \
	--set iod.threads=2
must pvkill /pvfs 8 # all files, and the manager knows the iods
until_true 30 no_sessions

expect "killed $count" pvkill /pvfs "$count"
for _ in $(seq 300); do
	settled && break
	sleep 0.1
done
settled || fail "left behind (before <, now >): $(cat "$tmp/diff")"

# They died in the middle: the iods had begun to move data from or to them.
cut() {
	sed -nE 's/.* transfers had to wait, ([0-9]+) were cut off/\1/p' \
		"$(log_of iod$1)" | tail -n 1
}
say "transfers cut off: $(cut 0) and $(cut 1)"
[ $(($(cut 0) + $(cut 1))) -ge $((count / 50)) ] ||
	fail "hardly a client died in the middle of a transfer"

# And they serve.
head -c 3000000 /dev/urandom >"$tmp/in"
must pvfs-cp "$tmp/in" /pvfs/in
must pvfs-cp /pvfs/in "$tmp/out"
must cmp "$tmp/in" "$tmp/out"
