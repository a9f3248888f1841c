#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-evict: an administrator ends sessions by number, user, job or host, with their open files,
# locks and loans. Other clients continue, and evicted ones, too, with files that they open again.
. "$(dirname "$0")/functions.sh"
requires tool python3

start_pvfs -n 3 --set mgr.lease=4
logged() { grep -q -- "$2" "$(log_of "$1")"; }
unset SLURM_JOB_ID PVFS_JOB_ID

# keeps NAME PATH HOW: starts a process that has PATH open; its pid is in $kept
keeps() {
	mkfifo "$1"
	pvio keep "$2" "$3" <"$1" >"$1.said" 2>"$1.err" & kept=$!
	helpers+=("$kept")
	exec {end[$1]}>"$1"
}
holding() { until_true 30 grep -q holding "$1.said"; }
# says NAME REGEX: checks the output of that process at its end
says() {
	echo >&"${end[$1]}"
	until_true 60 grep -Eq ' ok$|^E' "$1.said"
	tail -n 1 "$1.said" | grep -Eqx "$2" ||
		fail "$1: $(cat "$1.said" "$1.err") instead of '$2'"
}
declare -A end
# session PID: prints the session of that process, as --list shows it
session() {
	pvfs-evict --list --json /pvfs | python3 -c '
import json, sys
print(*(o["session"] for o in json.load(sys.stdin) if ":%s:" % sys.argv[1] in o["program"]))' "$1"
}
# a write in flight may have been executed
gone='(ESTALE|ECONNABORTED) ok ok'

must pvio write /pvfs/f 0 1000000 1 >/dev/null
must pvio write /pvfs/g 0 1000000 1 >/dev/null

# ---- one session: its open files are closed, others notice nothing ----

keeps reader /pvfs/f r; reader=$kept
keeps other /pvfs/f r
keeps writer /pvfs/g w; writer=$kept
for who in reader other writer; do holding $who; done
must pvfs-evict --list /pvfs >list
expect 3 grep -c ' connected ' list
grep -Eq "^[0-9a-f]{16} .* connected .* [1-9][0-9]* +0 .*:$writer:" list || fail "$(cat list)"
expect "1 session evicted" pvfs-evict -s "$(session $reader)" /pvfs
expect "1 session evicted" pvfs-evict -s "$(session $writer)" /pvfs
for i in 0 1 2; do
	expect 2 grep -c 'session .* has ended, says the manager' "$(log_of iod$i)"
done
says reader "$gone"
grep -q 'an administrator ended the session that had it open (pvfs-evict): close it' \
	reader.err || fail "$(cat reader.err)"
says writer "$gone"
says other 'ok ok ok'

# ---- a writer in the middle: nothing of it is written after the answer ----

PVFS_JOB_ID=flooding pvio flood /pvfs/g 1000000 >flood.said 2>flood.err & flood=$!
helpers+=("$flood")
until_true 30 grep -q holding flood.said
PVFS_JOB_ID=flooding keeps lazy /pvfs/f r
holding lazy
must_fail pvfs-evict --job flood /pvfs # another one
expect "2 sessions evicted" pvfs-evict --job flooding /pvfs
pvfs-cat /pvfs/g >before || fail "pvfs-cat"
wait $flood && fail "the writer goes on"
grep -Eqx 'ESTALE|ECONNABORTED' flood.said || fail "$(cat flood.said flood.err)"
pvfs-cat /pvfs/g >behind || fail "pvfs-cat"
cmp before behind || fail "written after the answer"
says lazy "$gone"

# ---- the holder of a lock, and the client that waits for it ----

keeps holder /pvfs/f l; holder=$kept
holding holder
keeps waiter /pvfs/f l
must_fail grep holding waiter.said
expect "1 session evicted" pvfs-evict -s "$(session $holder)" /pvfs
holding waiter
says waiter 'ok ok ok'
says holder "$gone"
# ... and the client that waits
keeps holder2 /pvfs/f l
holding holder2
keeps waiter2 /pvfs/f l; waiter2=$kept
until_true 30 eval '[ -n "$(session $waiter2)" ]'
expect "1 session evicted" pvfs-evict -s "$(session $waiter2)" /pvfs
until_true 60 grep -qx ESTALE waiter2.said
says holder2 'ok ok ok'

# ---- two at once, and of one that ends meanwhile ----

PVFS_JOB_ID=two keeps first /pvfs/f r
PVFS_JOB_ID=two keeps second /pvfs/g w
holding first
holding second
for i in 1 2 3; do
	pvfs-evict -J two /pvfs >"both$i" 2>&1 &
	both[i]=$!
done
for i in 1 2 3; do wait ${both[i]}; done
cat both? | grep -Evx '[0-2] sessions? evicted|.*there is no such session' &&
	fail "at once: $(cat both?)"
grep -qx '2 sessions evicted' both? || fail "at once: $(cat both?)"
says first "$gone"
says second "$gone"

keeps brief /pvfs/g w; brief=$kept
holding brief
id=$(session $brief)
kill -KILL $brief
wait $brief 2>/dev/null
pvfs-evict -s "$id" /pvfs >output 2>&1
grep -Eqx '1 session evicted|.*there is no such session.*' output || fail "$(cat output)"
must_fail pvfs-evict -s "$id" /pvfs
grep -q 'there is no such session: it has ended' "$tmp/output" || fail "$(cat "$tmp/output")"

# ---- a host, a user, a network; not the client that asks ----

host=127.0.0.1
[ "${PVFS_TEST_SCHEME:-tcp}" = tcp ] || host=local
keeps here /pvfs/f r
holding here
must_fail pvfs-evict --host 192.0.2.0/24 /pvfs
must_fail pvfs-evict --user 4711 /pvfs
must_fail pvfs-evict --job nobodys /pvfs
expect "1 session evicted" pvfs-evict --host $host /pvfs
says here "$gone"
keeps mine /pvfs/f w
holding mine
expect "1 session evicted" pvfs-evict --user "$(id -un)" /pvfs
says mine "$gone"

# ---- wrong words ----

for words in "" "-l" "/pvfs" "-s 0 /pvfs" "-s x /pvfs" "-u no-such-user /pvfs" "-H no-such.invalid /pvfs" \
	"-s 1 -u 1 /pvfs" "-l -s 1 /pvfs" "-s 1 -j /pvfs" "-s 1 /pvfs /pvfs" "-s -1 /pvfs"; do
	pvfs-evict $words >output 2>&1
	[ $? = 2 ] || fail "pvfs-evict $words: $(cat output)"
done
must_fail pvfs-evict -l /tmp

# ---- an iod that stands still ----

keeps still /pvfs/f w; still=$kept
holding still
stand_still "$(cluster pid 1)"
id=$(session $still)
must_fail pvfs-evict -t 2000 -s "$id" /pvfs
grep -q 'iod 1 has not confirmed the eviction: the evicted programs can read files that they had open there until' \
	"$tmp/output" || fail "$(cat "$tmp/output")"
grep -q '1 session has not ended yet' "$tmp/output" || fail "$(cat "$tmp/output")"
# the lease of that iod ends, so nothing more is written there: files and locks are free
must_fail pvfs-evict -t 20000 -J nobodys /pvfs
grep -q 'iod 1 has not confirmed the eviction.*; only programs that keep' "$tmp/output" ||
	fail "$(cat "$tmp/output")"
grep -q 'not ended yet' "$tmp/output" && fail "$(cat "$tmp/output")"
# the session can still be named by its number until that iod has fenced it
must_fail pvfs-evict -t 1000 -s "$id" /pvfs
grep -q 'iod 1 has not confirmed the eviction' "$tmp/output" || fail "$(cat "$tmp/output")"
kill -CONT "$(cluster pid 1)"
until_true 30 logged iod1 "session $id has ended, says the manager"
says still "$gone"

# ---- an iod that does not run has nothing to be told ----

keeps off /pvfs/f w; off=$kept
holding off
must cluster stop-iod 2
expect "1 session evicted" pvfs-evict -s "$(session $off)" /pvfs
must cluster start-iod 2
logged iod2 "has ended, says the manager" || fail "it serves, and was not told"
says off "$gone"

# ---- a restarted manager: clients that did not come back yet ----

keeps asleep /pvfs/f w; asleep=$kept
holding asleep
id=$(session $asleep)
stand_still $asleep
must cluster kill-mgr
must cluster start-mgr
until_true 30 eval 'pvfs-evict -l /pvfs | grep "^$id .* disconnected "'
expect "1 session evicted" pvfs-evict -s "$id" /pvfs
kill -CONT $asleep
says asleep "$gone"

# ---- ... in the middle of that ----

keeps middle /pvfs/f w; middle=$kept
holding middle
id=$(session $middle)
stand_still "$(cluster pid 1)"
pvfs-evict -t 30000 -u "$(id -un)" /pvfs >middle.evict 2>&1 & evict=$!
until_true 30 logged mgr "session $id: evicted by"
must cluster kill-mgr
must cluster start-mgr
kill -CONT "$(cluster pid 1)"
wait $evict
# a restarted manager repeats evictions that it had not recorded
grep -Eq 'the manager was restarted meanwhile|^1 session evicted$' middle.evict ||
	fail "$(cat middle.evict)"
says middle "$gone"

# ---- ... and a client that was evicted before, and had not heard of it ----

for how in w r; do
	keeps deaf$how /pvfs/f $how; deaf=$kept
	holding deaf$how
	stand_still $deaf
	expect "1 session evicted" pvfs-evict -s "$(session $deaf)" /pvfs
	must cluster kill-mgr
	must cluster start-mgr
	kill -CONT $deaf
	says deaf$how "$gone"
done
