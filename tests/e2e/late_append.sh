# SPDX-License-Identifier: BSD-2-Clause
# late_append.sh - an append whose session ends before it writes; sourced after
# functions.sh.  The servers' session_timeout is 2.

have_gone() { [ "$(grep -c 'did not come back' "$(log_of mgr)")" -ge "$1" ]; }

kin=
# late_append COMMAND...: appends a line "late 0" to /pvfs/log. Its place is given to other appends
# meanwhile, and no other process has the file open: $kin, if any, is killed.
late_append() {
	local late i who

	must pvio append /pvfs/log 1 100 first
	for i in 0 1 2; do must cluster kill-iod $i; done
	rm -f "$tmp/late"
	PVFS_TIMEOUT=300 "$@" >/dev/null 2>"$tmp/late" &
	late=$!
	helpers+=($late)
	until_true 60 grep -q 'iod [0-9].*again' "$tmp/late"
	stand_still $late
	[ -z "$kin" ] || must kill -KILL "$kin"
	cluster kill-mgr && cluster start-mgr || fail "no manager"
	until_true 60 have_gone $((${kin:+1+}1))
	for i in 0 1 2; do must cluster start-iod $i; done
	# a stat determines the size, without the missing append
	must pvio stat /pvfs/log >/dev/null
	must pvio append /pvfs/log 1 100 other
	kill -CONT $late
	wait $late || fail "the late one failed: $(cat "$tmp/late")"
	pvfs-cat /pvfs/log >"$tmp/log" || fail "it cannot be read"
	for who in first other late; do
		must grep -aq "$who 0" "$tmp/log"
	done
}
