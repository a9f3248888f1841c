#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A mount does not hang its host. Programs of all kinds work through it and in bypass of it, while
# its servers or its daemon are stopped, killed or disconnected. All calls return, the mount can be
# removed and created again, and acknowledged changes are there.
#
# HANG_ROUNDS (3) is the number of rounds, with HANG_FAULTS (all) one after the other; HANG_SEED
# (random) chooses the first. HANG_FIGURES prints calls, failed calls and the longest in ms, by
# fault and kind.
. "$(dirname "$0")/functions.sh"
net=pvfsh$$
remove_host() { ip netns del $net 2>/dev/null; return 0; }
at_end remove_host
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
requires tcp
requires tool ip
requires tool nsenter

rounds=${HANG_ROUNDS:-3}
RANDOM=${HANG_SEED:=$((RANDOM % 10000 + $$ % 100))}
say "HANG_SEED=$HANG_SEED"
timeout=2 # seconds, of a call
m=$tmp/m
mkdir "$m"

# ---- a client's host, and a cable to the servers ----

address=10.$((128 + $$ / 256 % 64)).$(($$ % 256))
ip netns add $net && ip link add $net type veth peer name eth0 netns $net ||
	skip "needs network namespaces"
must ip addr add $address.1/24 dev $net
must ip link set $net up
must ip -n $net addr add $address.2/24 dev eth0
must ip -n $net link set eth0 up
# A mount that is made in the namespace is visible everywhere: ip-netns would hide it.
there() { nsenter --net=/run/netns/$net "$@"; }

# locks of killed clients become free soon
start_pvfs -n 2 --host $address.1 --set mgr.session_timeout=8

# Sends no request, because the mount may not respond.
is_shown() { grep -q " $m fuse.pvfs " /proc/mounts; }
shown=("$m")
show() {
	nsenter --net=/run/netns/$net "$fuse" $address.1:/ "$m" -f -o \
		port="$(port_of mgr)",transport=tcp,timeout=$timeout,cache=$1${proof:+,$proof} \
		>>"$state/log/fuse.log" 2>&1 &
	guard=$!
	daemons+=($guard)
	until_true 30 is_shown
	server=$(pgrep -P $guard)
}

# ---- programs ----

through= past=
end_workers() {
	# their children end with them
	for pid in $through $past; do
		kill -KILL $(pgrep -P $pid) $pid
	done 2>/dev/null
	return 0
}
at_end end_workers
# begin_work: starts programs that work through the mount and in bypass of it, until end_work
begin_work() {
	mkfifo "$tmp/go"
	there pvblock "$m/through" run "$tmp/through" <"$tmp/go" >"$tmp/told" &
	through=$!
	past there pvblock "$m/past" run "$tmp/past" <"$tmp/go" >"$tmp/told.past" &
	past=$!
	exec 7<>"$tmp/go"
	sleep 0.5
}
end_work() {
	printf .. >&7 # a byte for each
	wait $through || fail "$fault: exit $?: $(cat "$tmp/told")"
	wait $past || fail "$fault, past the mount: exit $?: $(cat "$tmp/told.past")"
	sed "s/^/$fault through /" "$tmp/told" >>"$tmp/figures"
	sed "s/^/$fault past /" "$tmp/told.past" >>"$tmp/figures"
	through= past=
	exec 7>&-
	rm "$tmp/go"
}

# ---- faults ----

gone() { ! kill -0 "$1" 2>/dev/null; }
# figure NAME COMMAND...: prints how many ms it takes, whatever its result is
figure() {
	local name=$1 from=${EPOCHREALTIME/[.,]/}
	shift

	timeout 90 "$@" >"$tmp/output" 2>&1
	[ $? != 124 ] || fail "$fault: $name does not come back"
	echo "$fault - $name 1 0 $(((${EPOCHREALTIME/[.,]/} - from) / 1000))" \
		>>"$tmp/figures"
}
# Programs with open files there get errors and close them.
taken_away() { umount "$m" 2>/dev/null || ! is_shown; }
anew() {
	until_true 60 gone "$server"
	{ wait $guard; } 2>/dev/null
	until_true 60 taken_away
	show $cache
}
fuse_stopped() {
	kill -STOP "$server"
	figure umount umount "$m"
	anew
}
both_stopped() {
	kill -STOP $guard "$server"
	figure umount umount "$m"
	anew
}
fuse_forced() {
	kill -STOP "$server"
	figure umount-f umount -f "$m"
	anew
}
fuse_left() {
	kill -STOP "$server"
	figure umount-l umount -l "$m"
	anew
}
fuse_killed() {
	kill -KILL "$server"
	anew
}
# Returns when each waiting call has ended.
meanwhile() {
	sleep $((timeout + 1))
	figure umount umount "$m"
	! is_shown || grep -q busy "$tmp/output" ||
		fail "umount: $(cat "$tmp/output")"
}
server_stopped() {
	local pid

	pid=$(cluster pid "$1")
	kill -STOP "$pid"
	meanwhile
	kill -CONT "$pid"
}
mgr_stopped() { server_stopped mgr; }
iod_stopped() { server_stopped 1; }
mgr_killed() {
	must cluster kill-mgr
	meanwhile
	must cluster start-mgr
}
iod_killed() {
	must cluster kill-iod 0
	meanwhile
	must cluster start-iod 0
}
cable_out() {
	must ip link set $net down
	meanwhile
	must ip link set $net up
}
faults=(${HANG_FAULTS:-fuse_stopped both_stopped fuse_forced fuse_left fuse_killed
	mgr_stopped mgr_killed iod_stopped iod_killed cable_out})

# ---- rounds ----

show none
mkdir "$m/through" "$m/past"
for way in through past; do
	must pvblock "$m/$way" make
	must cp /bin/true "$m/$way/program"
done
umount "$m" && wait $guard || fail "pvfs-fuse ended with $?"

first=$((RANDOM % ${#faults[@]}))
kept() { pvblock "$m/$1" check "$tmp/$1" >"$tmp/checked" 2>&1; }
for ((round = 0; round < rounds; round++)); do
	cache=none
	((RANDOM % 3)) || cache=open
	fault=${faults[(first + round) % ${#faults[@]}]}
	show $cache
	begin_work
	$fault
	is_shown || anew # nobody had a file open
	sleep 0.5
	end_work
	# with the data that was cached, and without it
	until_true 60 stat "$m/through/large" >"$tmp/output" 2>&1
	until_true 30 umount "$m"
	wait $guard || fail "$fault: pvfs-fuse ended with $?"
	show none
	for way in through past; do
		kept $way || fail "$fault, $way: $(cat "$tmp/checked")"
	done
	until_true 30 umount "$m"
	wait $guard || fail "$fault: pvfs-fuse ended with $?"
	gone "$server" || fail "pvfs-fuse is still there"
done

[ -z "${HANG_FIGURES:-}" ] || awk '
	{ n[$1 " " $2 " " $3] += $4; bad[$1 " " $2 " " $3] += $5
	  if ($6 > worst[$1 " " $2 " " $3]) worst[$1 " " $2 " " $3] = $6 }
	END { for (k in n) print k, n[k], bad[k], worst[k] }' "$tmp/figures" | sort
