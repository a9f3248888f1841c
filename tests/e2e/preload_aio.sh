#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# POSIX's asynchronous calls give the same results in bypass of the mount as elsewhere, without a
# thread of libc.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
mount_at "$tmp/m" -o cache=none
expect ok timeout 120 pvposixaio "$tmp/elsewhere"
expect ok timeout 120 pvposixaio "$tmp/m/through"
expect ok past timeout 120 pvposixaio "$tmp/m/past" fork
expect ok timeout 120 pvaioedge "$tmp/edges"
expect ok timeout 120 pvaioedge "$tmp/m/edges"
expect ok past timeout 120 pvaioedge "$tmp/m/edges"
grep -q "pvposixaio): opens session" "$(log_of mgr)" ||
	fail "it did not go past the mount"

# A sync waits for all requests that began before it, also if later ones have ended: iod 0 gets no
# sync while iod 1 is stopped with the write before it.
syncs() {
	pvfs-stats 2>"$tmp/err" | awk '$1 == "iod" && $2 == 0 && $3 == "SYNC" { n = $4 }
		END { print n + 0 }'
}
head -c 200000 /dev/urandom >"$tmp/in"
must pvfs-cp -b 0 -n 2 -s 64K "$tmp/in" /pvfs/order
mkfifo "$tmp/go"
past timeout 120 pvposixaio "$tmp/m/order" order <"$tmp/go" >"$tmp/said" 2>&1 &
writer=$!
exec 6>"$tmp/go"
until_true 60 grep -q ready "$tmp/said"
were=$(syncs)
stand_still "$(cluster pid 1)"
echo >&6
until_true 60 grep -q later "$tmp/said"
now=$(PVFS_TIMEOUT=3 syncs)
must kill -CONT "$(cluster pid 1)"
echo >&6
exec 6>&-
wait $writer || fail "a sync and two writes: $(cat "$tmp/said")"
expect ok tail -n 1 "$tmp/said"
[ "$now" = "$were" ] || fail "a sync did not wait for the write before it"

# edges ARGUMENT: runs pvaioedge; iod 0 is stopped between "ready" and "waited"
edges() {
	rm -f "$tmp/on" "$tmp/told"
	mkfifo "$tmp/on"
	past env ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}use_sigaltstack=0 timeout 120 \
		pvaioedge "$tmp/m/order" "$1" <"$tmp/on" >"$tmp/told" 2>&1 &
	waits=$!
	exec 6>"$tmp/on"
	until_true 60 grep -q ready "$tmp/told"
	stand_still "$(cluster pid 0)"
	echo >&6
	until_true 60 grep -q waited "$tmp/told"
	must kill -CONT "$(cluster pid 0)"
	exec 6>&-
	wait $waits || fail "$1: $(cat "$tmp/told")"
	expect ok tail -n 1 "$tmp/told"
}
# A wait for a request that does not end is ended by a time-out, a signal, or a cancellation.
edges still
edges end
must cmp -n 100 "$tmp/m/order" /dev/zero
edges "$tmp/m/other"
unmount "$tmp/m" $daemon
