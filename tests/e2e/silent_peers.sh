#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients stop in the middle of their transfers (SIGSTOP), or their host is not
# heard of any more: what they held of an iod's buffers comes back.  Who only was
# stopped goes on afterwards.
. "$(dirname "$0")/functions.sh"

scheme=${PVFS_TEST_SCHEME:-tcp}

# What iod 0 says on SIGUSR1: "sessions S zones Z fast F", Z the zones' buffers in
# use and F the KiB of Fast RDMA buffers.
held() {
	local log n

	log=$(log_of iod0)
	n=$(wc -l <"$log")
	kill -USR1 "$(cluster pid 0)"
	until_true 20 eval "tail -n +$((n + 1)) '$log' | grep -q 'in use:'"
	tail -n +$((n + 1)) "$log" | sed -nE \
		-e 's/.* info: ([0-9]+) sessions, .*/sessions \1/p' \
		-e 's/.* ([0-9]+) KiB of buffers, .*connections.*/fast \1/p' \
		-e 's/.*in use:(.*)/\1/p' | awk '
		/^sessions/ { s = $2; next }
		/^fast/ { f = $2; next }
		{ n = split($0, part, ";")
		  for (i = 1; i <= n; i++) { split(part[i], w, " "); z += w[2] } }
		END { print "sessions", s, "zones", z + 0, "fast", f }'
}
no_zones() { [[ $(held) = *"zones 0 "* ]]; }
nothing() { [[ $(held) =~ sessions\ [01]\ zones\ 0\ fast\ 0 ]]; }
cut() {
	held >/dev/null
	sed -nE 's/.* ([0-9]+) were cut off$/\1/p' "$(log_of iod0)" | tail -n 1
}

settings=(-n 1 --set mgr.session_timeout=2 --set iod.map_size=0
	--set iod.threads=1 --set iod.dead_peer=2 --set mgr.dead_peer=2)

# ---- stopped ----

start_pvfs "${settings[@]}"
for round in 1 2 3; do
	stop_clients 4
	until_true 30 no_zones
	say "round $round, stopped: $(held), cut off $(cut)"
	go_on
	until_true 30 no_zones
done
# Over local the iod moves the data by itself: a client need not be awake.
[ $scheme != tcp ] || [ "$(cut)" -gt 0 ] || fail "nothing stood still"
must cluster stop

# ---- a host that is silent ----

# The other end of a cable, in a network of its own.
subnet=198.18.$(($$ / 64 % 256))
near=$subnet.$(($$ % 64 * 4 + 1)) far=$subnet.$(($$ % 64 * 4 + 2)) cable=pvn$$
[ $scheme = tcp ] || exit 0
unshare -n sleep 300 2>"$tmp/unshare" &
net=$!
helpers+=($net)
# a network of its own, or none at all
moved() {
	[ "$(readlink /proc/$net/ns/net)" != "$(readlink /proc/self/ns/net)" ]
}
until_true 30 moved
remove_cable() { ip link del $cable 2>/dev/null; }
at_end remove_cable
if ! ip link add $cable type veth peer name far netns $net 2>>"$tmp/unshare"
then
	say "a silent host was not tried: $(tail -n 1 "$tmp/unshare")"
	exit 0
fi
ip addr add $near/30 dev $cable && ip link set $cable up ||
	fail "no network"
there() { nsenter -t $net -n "$@"; }
there ip addr add $far/30 dev far && there ip link set far up ||
	fail "no network over there"

state=$tmp/far
start_pvfs "${settings[@]}" --host $near
mkfifo "$tmp/hold"
# no function in the background: its process would be a shell's
nsenter -t $net -n "$PVFS_BUILD/tests/e2e/pvkill" /pvfs 4 stop \
	<"$tmp/hold" >"$tmp/stopped" &
helpers+=($!)
exec 5>"$tmp/hold"
until_true 60 grep -q 'stopped 4' "$tmp/stopped"
# one that is idle: only its silence can tell
mkfifo "$tmp/idle"
nsenter -t $net -n "$PVFS_BUILD/tests/e2e/pvio" hold /pvfs/idle \
	<"$tmp/idle" >"$tmp/holds" &
helpers+=($!)
exec 6>"$tmp/idle"
until_true 60 grep -q . "$tmp/holds"
[[ $(held) =~ sessions\ [5-9] ]] || fail "no clients: $(held)"
there ip addr del $far/30 dev far
say "silent: $(held)"
until_true 60 nothing
grep -q 'pvio).* closed: Connection timed out' "$(log_of iod0)" ||
	fail "not noticed by its silence"
exec 5>&- 6>&-
