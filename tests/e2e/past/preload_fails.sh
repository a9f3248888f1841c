#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# During calls that bypass a mount, servers are stopped, killed and restarted, a disk is full,
# connections are cut, and signals arrive. The calls end by their deadline, with or without an
# error. Later calls work, and acknowledged changes are there.
. "$(dirname "$0")/../functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
requires python3
requires tcp

small_disk "$state/iod2" 16
export PVFS_TIMEOUT=2
start_pvfs -n 3
mount_at "$tmp/m" -o cache=none

# begin HOW FILE [OPTION OF env...]: starts the program; its output is in $tmp/told
run() {
	exec env "${@:3}" PVFS_LOG=info python3 "$e2e/past/preload_fails.py" "$1" "$tmp/m/$2"
}
begin() {
	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	past run "$@" <"$tmp/in" >"$tmp/told" 2>"$tmp/log" &
	program=$!
	helpers+=($program)
	exec 7>"$tmp/in"
}
tell() { echo "$1" >&7; }
# told N WORD: at least N lines are WORD
told() { [ "$(grep -cx "$2" "$tmp/told")" -ge "$1" ]; }
ends_well() {
	exec 7>&-
	wait $program || fail "exit $?: $(cat "$tmp/told" "$tmp/log")"
}
went_past() {
	grep -q ' [1-9][0-9]* of [0-9]* calls went past the mount' "$tmp/log" ||
		fail "it did not go past the mount: $(cat "$tmp/log")"
}
go_on() { must kill -CONT "$(cluster pid "$1")"; }

# ---- an iod ----

begin records a
until_true 60 told 1 ok
stand_still "$(cluster pid 1)"
until_true 60 told 1 ETIMEDOUT
go_on 1
until_true 60 told 2 ok
must cluster kill-iod 0
until_true 60 told 2 '[^o].*'
must cluster start-iod 0 7>&- # our end of the pipe
until_true 60 told 3 ok
ends_well
went_past

# ---- connections ----

begin records a
until_true 60 told 1 ok
cuts() {
	python3 "$e2e/past/preload_fails.py" cut $program >"$tmp/cuts"
	grep -q 'cut [1-9]' "$tmp/cuts"
}
for k in 1 2 3; do
	until_true 60 cuts
	sleep 0.3
done
ends_well
went_past

# ---- the manager, before the token ----

begin one b
until_true 60 told 1 open
stand_still "$(cluster pid mgr)"
tell write
until_true 60 told 1 'ok\|ETIMEDOUT'
go_on mgr
again() { tell write; until_true 60 told $((k += 1)) 'ok\|ETIMEDOUT' && told 1 ok; }
k=1
until_true 60 again
ends_well

# a program that does not wait for its connection uses the kernel meanwhile
begin one b -u PVFS_PRELOAD_AFTER
until_true 60 told 1 open
stand_still "$(cluster pid mgr)"
for k in $(seq 100); do tell write; done
until_true 60 told 100 ok
go_on mgr
ends_well

# ---- signals ----

# in_call: the program is in a call that does not end yet
waits() { grep -q '^State:.S' "/proc/$program/status"; }
in_call() {
	begin signal c
	until_true 60 told 1 open
	stand_still "$(cluster pid 0)" "$(cluster pid 1)" "$(cluster pid 2)"
	tell write
	exec 7>&-
	until_true 60 told 1 writes
	until_true 60 waits
}
go_on_all() { go_on 0 && go_on 1 && go_on 2; }
in_call
must kill -USR1 $program
ends_well
expect "open writes handler ETIMEDOUT" xargs -a "$tmp/told"
go_on_all
for signal in TERM KILL; do
	in_call
	must kill -$signal $program
	wait $program
	[ $? -gt 128 ] || fail "it ended before it was killed"
	go_on_all
done
begin records c
until_true 60 told 1 ok
ends_well

# ---- no room ----

begin fill d
ends_well
grep -qx ENOSPC "$tmp/told" || fail "no room: $(cat "$tmp/told")"
must rm "$tmp/m/d"
begin records d
until_true 60 told 1 ok
ends_well
unmount "$tmp/m" $daemon
