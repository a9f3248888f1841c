#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients stop in the middle of their transfers (SIGSTOP), or their host becomes unreachable.  The
# iod gets the buffers back that they held.  A client that was only stopped goes on afterwards.
. "$(dirname "$0")/functions.sh"

scheme=${PVFS_TEST_SCHEME:-tcp}

# The memory in use at iod 0: the zones' buffers in use, and bytes of Fast RDMA buffers.
held() {
	echo "sessions $(metric 0 sessions) zones $(metric 0 zone_used)" \
		"fast $(metric 0 fast_bytes)"
}
no_zones() { metric_is 0 0 zone_used; }
# but pvfs-stats, an earlier one that is still known, and the manager
nothing() { [[ $(held) =~ sessions\ [1-3]\ zones\ 0\ fast\ 0 ]]; }
cut() { metric 0 bulk_cut; }

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
[[ $(held) =~ sessions\ [6-9] ]] || fail "no clients: $(held)"
there ip addr del $far/30 dev far
say "silent: $(held)"
until_true 60 nothing
grep -q 'pvio).* closed: Connection timed out' "$(log_of iod0)" ||
	fail "not noticed by its silence"
exec 5>&- 6>&-
