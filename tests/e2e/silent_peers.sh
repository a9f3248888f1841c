#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Clients stop during their transfers (SIGSTOP), or their host becomes unreachable. The iod gets its
# buffers back. A client that was only stopped continues afterwards.
. "$(dirname "$0")/functions.sh"

scheme=${PVFS_TEST_SCHEME:-tcp}

# The memory in use at iod 0: buffers of the zones, and bytes of Fast RDMA buffers.
held() {
	echo "sessions $(metric 0 sessions) zones $(metric 0 zone_used)" \
		"fast $(metric 0 fast_bytes)"
}
no_zones() { metric_is 0 0 zone_used; }
# only the sessions of pvfs-stats, of an earlier pvfs-stats, and of the manager
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
# Over local the iod moves the data by itself, even if the client is stopped.
[ $scheme != tcp ] || [ "$(cut)" -gt 0 ] || fail "nothing stood still"
must cluster stop

# ---- a host that is silent ----

# The address of the other host, in its own network namespace.
subnet=198.18.$(($$ / 64 % 256))
near=$subnet.$(($$ % 64 * 4 + 1)) far=$subnet.$(($$ % 64 * 4 + 2)) cable=pvn$$
[ $scheme = tcp ] || exit 0
unshare -n sleep 300 2>"$tmp/unshare" &
net=$!
helpers+=($net)
# moves the cable to this host, or unplugs it
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
# not in a function in the background, which would run in a shell
nsenter -t $net -n "$PVFS_BUILD/tests/e2e/pvkill" /pvfs 4 stop \
	<"$tmp/hold" >"$tmp/stopped" &
helpers+=($!)
exec 5>"$tmp/hold"
until_true 60 grep -q 'stopped 4' "$tmp/stopped"
# an idle client: only its silence shows that it is gone
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
