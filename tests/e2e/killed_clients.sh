#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Hundreds of clients (KILLED_CLIENTS) die during their transfers. Afterwards the iods and the
# manager hold as many resources as before: sessions, registrations, Fast RDMA and zone buffers,
# descriptors.
. "$(dirname "$0")/functions.sh"

count=${KILLED_CLIENTS:-200}

# The counts that may not grow.
held() {
	local k

	pvfs-stats -i -j | tr '{' '\n' | sed -nE \
		's/.*("iod.*)"uri.*("(sessions|registered_[a-z]*|fast_bytes|zone_used)".*)/\1\2/p'
	# objects stay open for later requests
	for k in 0 1 mgr; do
		echo "$k descriptors: $(ls -l "/proc/$(cluster pid $k)/fd" | grep -vc /objects/)"
	done
}

settled() {
	held >"$tmp/now"
	diff "$tmp/before" "$tmp/now" >"$tmp/diff"
}
no_sessions() {
	held >"$tmp/before"
	# the sessions of the manager and of pvfs-stats
	[ "$(grep -c '"sessions".*:2}' "$tmp/before")" = 2 ]
}

# The iods keep mappings of objects, and their number is random, so they are switched off.
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

# The clients died during transfers: the iods had begun to move their data.
cut() { metric "$1" bulk_cut; }
say "transfers cut off: $(cut 0) and $(cut 1)"
[ $(($(cut 0) + $(cut 1))) -ge $((count / 50)) ] ||
	fail "hardly a client died in the middle of a transfer"

# The servers still serve.
head -c 3000000 /dev/urandom >"$tmp/in"
must pvfs-cp "$tmp/in" /pvfs/in
must pvfs-cp /pvfs/in "$tmp/out"
must cmp "$tmp/in" "$tmp/out"
