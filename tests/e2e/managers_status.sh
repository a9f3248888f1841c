#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-managers shows the state of a group: all managers up, one silent, and no majority.
. "$(dirname "$0")/functions.sh"

requires tool python3
start_pvfs -n 1 --managers 3 --transport pvfs

# up N: the status has a leader and N followers, all up
up() {
	pvfs-managers status /pvfs >"$tmp/status" 2>&1
	[ "$(grep -c '^leader .* up ' "$tmp/status")" = 1 ] &&
		[ "$(grep -c '^follower .* up ' "$tmp/status")" = "$1" ]
}
until_true 60 up 2
must pvfs-managers status /pvfs >/dev/null
lead=$(leader)
grep -q "^leader  *127.0.0.1:$(port_of "mgr.$lead") " "$tmp/status" ||
	fail "the leader is mgr.$lead: $(cat "$tmp/status")"

follower=$(((lead + 1) % 3))
must cluster stop-mgr "$follower"
silent() {
	pvfs-managers status /pvfs >"$tmp/status" && return 1
	grep -q "^follower  *127.0.0.1:$(port_of "mgr.$follower") .* silent" "$tmp/status"
}
until_true 60 silent
pvfs-managers status --json /pvfs >"$tmp/json"
python3 - "$tmp/json" <<-END || fail "json: $(cat "$tmp/json")"
	import json, sys
	group = json.load(open(sys.argv[1]))
	assert not group["healthy"] and group["term"] > 0, group
	assert [m["up"] for m in group["members"]].count(False) == 1, group
	assert [m["role"] for m in group["members"]].count("leader") == 1, group
	assert all(m["voter"] for m in group["members"]), group
END

must pvfs-ping >"$tmp/ping"
grep -q "^mgr .* up .*127.0.0.1:$(port_of "mgr.$lead") leads" "$tmp/ping" ||
	fail "pvfs-ping: $(cat "$tmp/ping")"

# found TEXT: pvfs-doctor reports TEXT; retried, because on a busy machine it may find no leader in
# time
found() {
	pvfs-doctor >"$tmp/doctor" 2>&1
	grep -q "$1" "$tmp/doctor"
}
until_true 60 found "the manager .*127.0.0.1:$(port_of "mgr.$follower") does not answer"
pvfs-stats -j -i /pvfs >"$tmp/stats"
for row in managers_leads managers_term managers_voters managers_recent managers_log_bytes \
	managers_lag_entries managers_log_full; do
	grep -q "\"$row\"" "$tmp/stats" || fail "no $row: $(cat "$tmp/stats")"
done

must cluster stop-mgr "$lead"
none() {
	pvfs-managers -t 2000 status /pvfs >"$tmp/status" 2>&1 && return 1
	grep -q 'none of its managers leads: a majority' "$tmp/status"
}
until_true 60 none
waits() { ! pvfs-ping >"$tmp/ping" 2>&1 && grep -q '^mgr .* waits .*none of its managers leads' "$tmp/ping"; }
until_true 60 waits
until_true 60 found 'no manager leads'
must cluster start
until_true 60 up 2

# the first manager of the list replies over each transport, although it is not the leader
must pvfs-managers -c "$state/pvfs.conf" transfer 1 /pvfs
answers() {
	pvfs-doctor -v >"$tmp/doctor" 2>&1
	! grep -q '^found: ways' "$tmp/doctor" &&
		grep -q "tcp://127.0.0.1:$(port_of mgr.0) answers, and does not lead" "$tmp/doctor"
}
until_true 60 answers

# ---- operands ----

must_fail pvfs-managers remove /pvfs
must_fail pvfs-managers status /pvfs more
must_fail pvfs-managers --json transfer /pvfs
must_fail pvfs-managers remove nowhere:1 /pvfs
grep -q 'no member of the group has the address nowhere:1' "$tmp/output" ||
	fail "nowhere: $(cat "$tmp/output")"
must_fail pvfs-managers -c "$state/pvfs.conf" remove 7 /pvfs
grep -q 'there is no \[mgr.7\]' "$tmp/output" || fail "7: $(cat "$tmp/output")"
must pvfs-managers -c "$state/pvfs.conf" -w 0 add 1 /pvfs >"$tmp/added"
grep -qx "127.0.0.1:$(port_of mgr.1) is a voter" "$tmp/added" ||
	fail "add: $(cat "$tmp/added")"
must_fail pvfs-managers -w 0 add nowhere:1 /pvfs
grep -q 'nowhere:1 has not joined' "$tmp/output" || fail "add: $(cat "$tmp/output")"

# ---- another user ----

if command -v setpriv >/dev/null; then
	chmod 755 "$tmp" "$state" && chmod 644 "$state/pvfstab"
	public pvfs-managers
	must as_user 12345 12345 '' pvfs-managers status /pvfs >/dev/null
	for command in remove transfer; do
		must_fail as_user 12345 12345 '' pvfs-managers $command "127.0.0.1:$(port_of mgr.2)" /pvfs
		grep -q 'only root and the user that the manager runs as may do that' "$tmp/output" ||
			fail "$command: $(cat "$tmp/output")"
	done
fi

# ---- the leader is removed ----

gone=$(leader)
must pvfs-managers -c "$state/pvfs.conf" remove "$gone" /pvfs >"$tmp/removed"
grep -qx "127.0.0.1:$(port_of "mgr.$gone") is no member any more" "$tmp/removed" ||
	fail "remove: $(cat "$tmp/removed")"
until_true 60 up 1
! grep -q "127.0.0.1:$(port_of "mgr.$gone") " "$tmp/status" || fail "still there: $(cat "$tmp/status")"
