#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-managers changes a group of three managers while a program works. The leadership moves, a
# manager leaves and joins again, and one gets a new storage. Impossible changes are rejected with a
# reason. No call of the program fails.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 1 --managers 3

. "$e2e/rolling_load.sh"

address() { echo "127.0.0.1:$(port_of "mgr.$1")"; }
prints() { grep -qF "$1" "$2" || fail "no \"$1\": $(cat "$2")"; }
ended() { ! cluster pid "mgr.$1" >/dev/null 2>&1; }
# said N TEXT: manager N has logged TEXT since its last start
said() {
	[ -e "$state/run/mgr$1.pid" ] || return
	tail -n +"$(cut -d ' ' -f 3 "$state/run/mgr$1.pid")" "$(log_of "mgr$1")" | grep -qF "$2"
}
refuses() {
	manage "${@:2}" >"$tmp/output" 2>&1 && fail "$*: $(cat "$tmp/output")"
	grep -qF "$1" "$tmp/output"
}

until_true 60 all_up
load_goes_on

say "transfer"
for n in 0 1 2; do
	must manage transfer "$n" >"$tmp/moved"
	grep -qx "$(address "$n") leads\( already\)\?" "$tmp/moved" ||
		fail "transfer $n: $(cat "$tmp/moved")"
	[ "$(leader)" = "$n" ] || fail "$n does not lead"
	load_goes_on
	until_true 60 all_up
done
must manage transfer >"$tmp/moved"
[ "$(leader)" != 2 ] || fail "2 still leads"
until_true 60 all_up

say "a follower leaves, and joins again"
gone=$((($(leader) + 1) % 3))
must manage remove "$gone" >"$tmp/removed"
prints "$(address "$gone") is no member any more" "$tmp/removed"
until_true 60 ended "$gone"
said "$gone" "this manager was removed from the group" || fail "$gone does not say why it ends"
load_goes_on
must_fail manage remove "$gone"
prints "no member of the group has the address $(address "$gone")" "$tmp/output"
# its storage is useless now, and systemd does not restart it
"$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" --index "$gone" >"$tmp/start" 2>&1
status=$?
prints "this manager was removed from the group" "$tmp/start"
grep -qE "^RestartPreventExitStatus=(.* )?$status\>" "$PVFS_BUILD/conf/pvfs-mgr@.service" ||
	fail "it ended with status $status, so systemd starts it again: $(cat "$tmp/start")"
rm -r "$state/mgr$gone"
must cluster start-mgr "$gone"
must manage -w 120 add "$gone" >"$tmp/added"
prints "$(address "$gone") is a voter" "$tmp/added"
until_true 60 all_up
load_goes_on

say "a storage is lost"
lost=$((($(leader) + 2) % 3))
must cluster kill-mgr "$lost"
rm -r "$state/mgr$lost"
# the new member is rejected until the old one is removed
cluster start-mgr "$lost" >"$tmp/start" 2>&1 &
starts=$!
refused() { said "$lost" "cannot join the group: another member has the address of this manager"; }
until_true 60 refused
# a second administrator runs the same command, possibly after the old member is gone
manage -w 120 replace "$lost" >"$tmp/replaced2" 2>&1 &
second=$!
manage -w 120 replace "$lost" >"$tmp/replaced" 2>&1
first_rc=$?
wait "$second"
second_rc=$?
wait "$starts" || fail "manager $lost does not start: $(cat "$tmp/start")"
check_replaced() { # EXIT-STATUS OUTPUT
	if [ "$1" = 0 ]; then
		prints "$(address "$lost") is no member any more" "$2"
		prints "$(address "$lost") is a voter" "$2"
	else
		prints "no member of the group has the address $(address "$lost")" "$2"
	fi
}
[ "$first_rc" = 0 ] || [ "$second_rc" = 0 ] ||
	fail "replace: $(cat "$tmp/replaced" "$tmp/replaced2")"
check_replaced "$first_rc" "$tmp/replaced"
check_replaced "$second_rc" "$tmp/replaced2"
until_true 60 all_up
load_goes_on

say "a stranger"
{
	cat "$state/pvfs.conf"
	for n in 3 4; do
		printf '[mgr.%s]\naddress = tcp://127.0.0.1:%s\nstorage = %s\n' \
			"$n" "$(free_port)" "$tmp/stranger$n"
	done
} >"$tmp/stranger.conf"
"$PVFS_BUILD/mgr/pvfs-mgr" --config "$tmp/stranger.conf" --index 3 2>"$tmp/stranger.log" &
stranger=$!
helpers+=("$stranger")
stranger_refused() {
	grep -qF "cannot join the group: the leader's pvfs.conf lacks the address" "$tmp/stranger.log"
}
until_true 60 stranger_refused
until_true 60 all_up
kill "$stranger"
wait "$stranger" || fail "the stranger does not stop: $(cat "$tmp/stranger.log")"

say "without a majority"
silent=$((($(leader) + 1) % 3)) other=$((($(leader) + 2) % 3))
must cluster kill-mgr "$silent"
until_true 60 refuses "the managers that would remain" remove "$other"
load_goes_on
must cluster start-mgr "$silent"
until_true 60 all_up

end_load
