#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A client is stopped during or around a write to a borrowed object while its session ends. It does
# not overwrite the data of the lock's next holder, and it gets an error.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2 --set mgr.session_timeout=2

stopped() { [ "$(cut -d' ' -f3 <"/proc/$holder/stat")" = T ]; }
# Starts $holder, a client that stops. WHERE: IN a write, or after it (BEHIND).
hold() { # WHERE MODE
	env STOP_"$1"_WRITE="$tmp/stop" \
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
		LD_PRELOAD=$PVFS_BUILD/tests/e2e/lib/libstop_in_write.so \
		lib_direct_stopped /pvfs "$2" "$tmp/stop" >"$tmp/$2" 2>"$tmp/logged" &
	holder=$!
	until_true 60 stopped
}
was_killed() {
	wait $holder
	[ $? = 137 ] || fail "who stood still was not ended: $(cat "$tmp/logged")"
}
says() { # WHAT MODE
	kill -CONT "$holder"
	wait "$holder"
	grep -qx "$1" "$tmp/$2" || fail "it is not $1: $(cat "$tmp/$2" "$tmp/logged")"
}
# The holder does not reconnect to a restarted manager, so its session ends.
others() { # MODE...
	timeout 100 lib_direct_stopped /pvfs "$@" >"$tmp/took" 2>&1 &
	cluster kill-mgr && cluster start-mgr || fail "no manager"
	wait "$!" || fail "the lock was not given: $(cat "$tmp/took")"
}

# the next client, and its action
for what in take cut; do
	hold IN hold
	others $what held
	expect B lib_direct_stopped /pvfs look held
	stopped || fail "it was ended"
	says stale hold
	expect B lib_direct_stopped /pvfs look held
done
must grep -q 'was replaced by a copy' "$state"/log/iod?.log
hold IN gone
others end held
says stale gone
[ ! -e "$state"/iod0*/objects/aside ] || fail "a copy is left"

# the written part of a call is not written again in its next session
hold BEHIND half
others take half
says aborted half
expect B lib_direct_stopped /pvfs look half

# a client does not write to an object that was lent by an iod which no longer runs
hold NO late
late=$holder
hold IN hold
for i in 0 1; do cluster kill-iod $i || fail "no end"; done
others lock late
kill -CONT $late
for i in 0 1; do cluster start-iod $i || fail "no iod"; done
# the iod replaces an object that a stopped client is writing to
others take held
must grep -q 'client of the previous iod process' "$state"/log/iod?.log
says stale hold
expect B lib_direct_stopped /pvfs look held
holder=$late
says stale late

# if there is no room for a copy, a client inside a write loses its session
[ "$(id -u)" = 0 ] || exit 0 # small disks are mounted
must cluster stop
state=$tmp/full
for i in 0 1; do small_disk "$state/iod$i" 8; done
start_pvfs -n 2 --set mgr.session_timeout=2
hold IN hold
for i in 0 1; do cat /dev/zero >"$state/iod$i/filler" 2>/dev/null; done
others take held
kill -CONT $holder 2>/dev/null
was_killed
expect B lib_direct_stopped /pvfs look held
