#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# While a program works, each of three managers gets an empty storage: the old member is removed
# from the group, and the manager joins under a new id and is filled. It is killed meanwhile. No
# call fails.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 1 --managers 3

. "$e2e/rolling_load.sh"

address() { conf_value "mgr.$1" address | sed 's|.*://||'; }
# id_of N, votes N: of manager N, as the leader knows it
id_of() { group_members | awk -v a="$(address "$1")" '$2 == a { print $1 }'; }
votes() { group_members | grep -qF " $(address "$1") voter"; }
removed() { pvfs-managers remove "$(address "$1")" /pvfs >"$tmp/removed" 2>&1 || [ -z "$(id_of "$1")" ]; }

load_goes_on
for n in 0 1 2; do until_true 60 votes "$n"; done
for n in 0 1 2; do
	say "manager $n"
	id=$(id_of "$n")
	must cluster kill-mgr "$n"
	rm -rf "$state/mgr$n"
	until_true 60 removed "$n"
	load_goes_on
	for moment in 0.3 0.8; do
		cluster start-mgr "$n" >"$tmp/start" 2>&1 &
		sleep "$moment"
		wait $!
		cluster kill-mgr "$n" >"$tmp/kill" 2>&1
	done
	must cluster start-mgr "$n"
	until_true 120 votes "$n"
	[ "$(id_of "$n")" != "$id" ] || fail "manager $n has its old id"
	load_goes_on
done

end_load
