#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rendezvous = adaptive: if the iods are loaded, clients that agree move their data themselves.
# Their data is the same, and a client that dies or stops meanwhile does not block others for long.
. "$(dirname "$0")/functions.sh"

moved() { metric "$1" bulk_carried_bytes; }
no_buffers() { metric_is 0 0 zone_used && metric_is 0 1 zone_used; }

# Memory of mappings is never lent; without mappings all data goes through buffers.
start_pvfs -n 2 --set iod.map_size=0 --set iod.threads=1 \
	--set mgr.session_timeout=2 --set iod.dead_peer=2 --set mgr.dead_peer=2 \
	--set iod.rendezvous=adaptive --set iod.rendezvous_above=0
grep -q 'rendezvous adaptive: with more than 0 KiB' "$(log_of iod0)" ||
	fail "the iod does not say so"

for i in 1 2 3 4; do head -c $((5000000 + i)) /dev/urandom >"$tmp/in$i"; done
copies() {
	local i pids=()

	for i in 1 2 3 4; do
		{ pvfs-cp -q "$tmp/in$i" "/pvfs/$1$i" &&
			pvfs-cp -q "/pvfs/$1$i" "$tmp/$1$i" &&
			cmp "$tmp/in$i" "$tmp/$1$i"; } & pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || fail "copies: $1"; done
}

# ---- a client that does not want it is not asked ----

copies not
[ "$(moved 0)" = 0 ] || fail "moved by clients that do not want it"

# ---- several that do ----

export PVFS_RENDEZVOUS=adaptive
copies all
say "bytes moved by clients: $(moved 0) and $(moved 1)"
[ "$(moved 0)" -gt 15000000 ] && [ "$(moved 1)" -gt 15000000 ] ||
	fail "not moved by clients"
unset PVFS_RENDEZVOUS

# ---- the option of pvfstab; the variable goes before it ----

sed -i 's|pvfs port=|pvfs rendezvous=adaptive,port=|' "$state/pvfstab"
before=$(moved 0)
copies tab
[ "$(moved 0)" -gt "$before" ] || fail "not by rendezvous= in pvfstab"
before=$(moved 0)
PVFS_RENDEZVOUS=server copies env
[ "$(moved 0)" = "$before" ] || fail "PVFS_RENDEZVOUS does not go before it"
PVFS_RENDEZVOUS=both must pvfs-ls /pvfs >"$tmp/output" 2>&1
grep -q 'PVFS_RENDEZVOUS=both: want server or adaptive' "$tmp/output" ||
	fail "$(cat "$tmp/output")"

# ---- a client that dies with loans, and one that stops ----

expect "killed 60" pvkill /pvfs 60
until_true 60 no_buffers
for round in 1 2; do
	stop_clients 4
	until_true 60 no_buffers
	say "round $round, stopped: taken back $(metric 0 bulk_withdrawn) and $(metric 1 bulk_withdrawn)"
	go_on
	until_true 60 no_buffers
done
copies last
