#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The messages of the daemons to a service manager: READY when they serve and not before, RELOADING,
# STOPPING, and watchdog messages that end when one serving thread hangs, whatever the others do.
. "$(dirname "$0")/functions.sh"
requires tool python3

# Starts once to write the configuration; then each server is started anew.
start_pvfs -n 2 --set iod.threads=2
must cluster stop
find "$state/mgr" "$state/iod0" "$state/iod1" -mindepth 1 -delete

heard=$tmp/heard
listen() {
	"$e2e/notified.py" listen "$1" >>"$heard" 2>&1 &
	helpers+=($!)
	until_true 30 grep -q listens "$heard"
}
listen "$tmp/notify"

# begin SERVER PROGRAM [OPTION...]: starts it as a service manager does
declare -A pid
begin() {
	local server=$1
	shift

	NOTIFY_SOCKET=$tmp/notify WATCHDOG_USEC=800000 \
		"$@" --config "$state/pvfs.conf" >>"$state/log/$server.log" 2>&1 &
	pid[$server]=$!
	helpers+=($!)
}
# count SERVER TEXT: prints how often the message was received
count() { grep -c "^${pid[$1]} $2" "$heard"; }
is_heard() { [ "$(count "$1" "$2")" -ge "$3" ]; }
iod() { begin "$1" "$PVFS_BUILD/server/pvfs-iod" --index "$1"; }

# ---- its loop turns, but it does not serve ----
iod 0
until_true 60 is_heard 0 EXTEND_TIMEOUT_USEC=800000 3
begin mgr "$PVFS_BUILD/mgr/pvfs-mgr"
until_true 60 is_heard mgr EXTEND_TIMEOUT_USEC=800000 3
must kill -HUP "${pid[mgr]}"
until_true 60 is_heard mgr EXTEND_TIMEOUT_USEC=800000 6
is_heard mgr READY=1 1 && fail "the manager is ready without its iods"
iod 1
for server in mgr 0 1; do
	until_true 60 is_heard $server READY=1 1
	grep -q '^pvfs-.*ready: ' "$state/log/$server.log" || fail "$server serves in secret"
	until_true 60 is_heard $server WATCHDOG=1 2
done
must pvfs-ping >/dev/null

# ---- reload ----
must kill -HUP "${pid[mgr]}" "${pid[0]}"
for server in mgr 0; do
	until_true 60 is_heard $server READY=1 2
	grep "^${pid[$server]} R" "$heard" >order
	sed -n 2p order | grep -qE ' RELOADING=1 MONOTONIC_USEC=[0-9]+$' ||
		fail "$server: $(cat order)"
done
is_heard 1 RELOADING 1 && fail "an iod reloads that was not told to"

# ---- one thread hangs ----
hold() {
	rm -f held # of the one before
	mkfifo release
	"$e2e/notified.py" hold "$1" "$2" <release >held 2>&1 &
	holder=$!
	exec 5>release
	rm release
	until_true 60 test -s held
	grep -q held held || skip "$(cat held)"
}
go_on() {
	exec 5>&-
	wait $holder || fail "$(cat held)"
}
# Three watchdog messages, or none in two seconds, which is ten times the usual interval. On a busy
# machine the listener receives messages late.
marks=0
lives() {
	local before i

	marks=$((marks + 1))
	must "$e2e/notified.py" say "$tmp/notify" "MARK=$1.$marks."
	until_true 60 grep -qF "MARK=$1.$marks." "$heard"
	before=$(count "$1" WATCHDOG=1)
	for ((i = 0; i < 20; i++)); do
		is_heard "$1" WATCHDOG=1 $((before + 3)) && return
		sleep 0.1
	done
	return 1
}
# silent_without SERVER: prints the number of threads whose hang ends the watchdog messages
silent_without() {
	local p=${pid[$1]} task

	n=0
	for task in "/proc/$p/task/"*; do
		[ "${task##*/}" != "$p" ] || continue
		hold "$p" "${task##*/}"
		lives "$1" || n=$((n + 1))
		go_on
	done
}
hold "${pid[mgr]}" "${pid[mgr]}"
until_true 60 is_heard mgr WATCHDOG=1 $(($(count mgr WATCHDOG=1) + 3))
go_on
silent_without mgr
[ "$n" -ge 1 ] || fail "a manager that hangs is not seen"
say "the manager falls silent without each of $n threads"
silent_without 0
[ "$n" -ge 2 ] || fail "an iod of two threads hangs, and is seen for $n of them"
say "the iod falls silent without each of $n threads"
for server in mgr 0; do
	until_true 60 is_heard $server WATCHDOG=1 $(($(count $server WATCHDOG=1) + 3))
done
must pvfs-ping >/dev/null

# ---- the end ----
for server in mgr 0 1; do
	must kill "${pid[$server]}"
	wait "${pid[$server]}" || fail "$server ended with $?"
	until_true 60 is_heard $server STOPPING=1 1
done
is_heard mgr READY=1 3 && fail "ready more than once"
exit 0
