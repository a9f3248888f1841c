#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# An idle daemon uses no CPU. With a connected but idle client its CPU time does not grow, and it
# wakes only a few times a second. The client has a thread for its session, which sleeps except for
# a keepalive from time to time. Beyond its buffers the daemon uses less than 64 MiB (not checked
# under a sanitizer).
. "$(dirname "$0")/functions.sh"

start_pvfs -n 2
mkfifo "$tmp/fifo"
pvio hold /pvfs/held <"$tmp/fifo" >"$tmp/holder" &
client=$!
helpers+=($client)
exec 5>"$tmp/fifo"
held() { grep -q holding "$tmp/holder"; }
until_true 30 held
sleep 2

# utime + stime of all threads, and the voluntary context switches
ticks() {
	local stat

	read -r stat <"/proc/$1/stat"
	set -- ${stat##*) }
	echo $((${12} + ${13}))
}
switches() {
	awk '/^voluntary/ { n += $2 } END { print n }' /proc/"$1"/task/*/status
}
pid_of() { [ "$1" = client ] && echo "$client" || cluster pid "$1"; }
# Checks for 5 seconds.
idle() {
	local s pid used woken busy=0 most

	for s in mgr 0 1 client; do
		pid=$(pid_of $s)
		t[pid]=$(ticks "$pid") w[pid]=$(switches "$pid")
	done
	sleep 5
	for s in mgr 0 1 client; do
		pid=$(pid_of $s)
		most=50
		[ $s != client ] || most=6
		used=$(($(ticks "$pid") - ${t[pid]}))
		woken=$(($(switches "$pid") - ${w[pid]}))
		say "$s: $used ticks, woken $woken times in 5 s"
		[ $used -le 1 ] && [ $woken -le $most ] || busy=1
	done
	return $busy
}
# on a busy disk, the first writes after a start take longer
idle || idle || idle || fail "not idle"
grep -qx pvfs "/proc/$client/task"/*/comm || fail "the client has no thread"
[ "$sanitized" = 1 ] || for s in mgr 0 1; do
	kib=$(awk '/^VmRSS/ { print $2 }' "/proc/$(cluster pid $s)/status")
	say "$s: $((kib / 1024)) MiB"
	[ "$kib" -lt $((64 * 1024)) ] || fail "$s holds $kib KiB"
done
exec 5>&-
wait "${helpers[0]}" || fail "the client: $(cat "$tmp/holder")"
helpers=()
