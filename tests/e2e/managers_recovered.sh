#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two of three managers are lost. The third one continues alone after pvfs-mgr --recover --force,
# with all changes in its log. When the two old managers start again, they elect a leader: the iods
# refuse it, and both end. With empty storages they join the recovered one.
. "$(dirname "$0")/functions.sh"

mgr() { "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" "$@"; }
recover() { mgr --index "$survivor" --recover "$@" >"$tmp/recovery" 2>&1; }
says() { grep -qF -- "$1" "$2" || fail "no '$1' in: $(<"$2")"; }
all_vote() { [ "$(group_votes)" = 3 ]; }
has_names() {
	pvio names /pvfs >names
	[ "$(grep -c "^$1" names)" = "$2" ] || fail "$(grep -c "^$1" names) of $2 files $1*"
}

start_pvfs -n 2 --managers 3
until_true 120 all_vote
expect ok pvio write /pvfs/kept 0 300000 1
old=$(leader)
survivor=$((old == 2 ? 1 : 2))
third=$((3 - old - survivor))

# ---- refused while another manager of the group answers ----

must cluster stop-mgr "$survivor"
must_fail recover --force
says 'answers: start a majority of the managers' "$tmp/recovery"
must cluster start-mgr "$survivor"

# ---- two store the last changes: the leader, which is lost, and the survivor ----

until_true 120 all_vote
must cluster kill-mgr "$third"
expect ok pvio create /pvfs last. 50 1
must cluster kill-mgr "$old"
must cluster kill-mgr "$survivor"

# ---- what would be lost; nothing is changed without all iods ----

cp -a "$state/mgr$survivor/raft" raft.before
must_fail recover
says 'the last entry of the managers' "$tmp/recovery"
must cluster kill-iod 1
must_fail recover --force
says 'start all iods' "$tmp/recovery"
[ ! -e "$state/mgr$survivor/recovering" ] || fail "a recovery was begun"
diff -r raft.before "$state/mgr$survivor/raft" >/dev/null || fail "the log was changed"
# cluster would wait until it is ready, which needs a leader
"$PVFS_BUILD/server/pvfs-iod" --config "$state/pvfs.conf" --index 1 >>"$(log_of iod1)" 2>&1 &
helpers+=($!)

# ---- an interrupted recovery does not count ----

for moment in 0.03 0.1 0.2 0.3 0.5; do
	timeout -s KILL "$moment" "$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" \
		--index "$survivor" --recover --force >"$tmp/recovery" 2>&1
done
touch "$state/mgr$survivor/recovering"
must_fail cluster start-mgr "$survivor"
says 'was interrupted: run pvfs-mgr --recover --force again' "$(log_of "mgr$survivor")"

# ---- it goes on alone ----

until_true 60 recover --force
[ ! -e "$state/mgr$survivor/recovering" ] || fail "the recovery is not over"
must cluster start-mgr "$survivor"
has_names last. 50
expect ok pvio check /pvfs/kept 0 300000 1
must "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf" >found
expect ok pvio create /pvfs new. 20 1

# ---- the majority of the old group comes back ----

# starts N: like cluster start-mgr, but does not wait for a leader
starts() {
	"$PVFS_BUILD/mgr/pvfs-mgr" --config "$state/pvfs.conf" --index "$1" >>"$state/log/again$1.log" 2>&1 &
	again[$1]=$!
	helpers+=($!)
}
ended() { ! kill -0 "${again[$1]}" 2>/dev/null || stands "${again[$1]}"; }
one_ended() { ended "$old" || ended "$third"; }
again=()
starts "$old"
starts "$third"
until_true 120 one_ended
grep -qF 'a manager was recovered from another storage' "$state"/log/again*.log ||
	fail "it ended: $(tail -n 3 "$state"/log/again*.log)"

# the old group has recorded it, so no later leader of this group asks the iods
displaced() { grep -qF 'was displaced by a manager that was recovered' "$state"/log/again*.log; }
all_know() {
	displaced && return
	for n in $old $third; do
		ended "$n" && starts "$n"
	done
	return 1
}
until_true 120 all_know
has_names last. 50
has_names new. 20
expect ok pvio write /pvfs/after 0 300000 7
expect ok pvio check /pvfs/after 0 300000 7
[ "$(leader)" = "$survivor" ] || fail "manager $survivor does not lead"
grep -qF 'does not lead any more' "$(log_of "mgr$survivor")" && fail "it was displaced"

# ---- with empty storages, they join the recovered one ----

for n in $old $third; do
	kill -KILL "${again[$n]}" 2>/dev/null
	wait "${again[$n]}" 2>/dev/null
	rm -r "$state/mgr$n"
done
must cluster start-mgr "$old"
must cluster start-mgr "$third"
until_true 120 all_vote
must cluster kill-mgr "$survivor"
has_names last. 50
has_names new. 20
expect ok pvio check /pvfs/after 0 300000 7
