#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A connection is valid no longer than its ticket.  If a client gets no new ticket, because munged
# is unavailable or its user has changed, it loses its identity when the ticket expires.
. "$(dirname "$0")/functions.sh"
requires root
requires tool munged
requires tool munge

logged() { grep -q -- "$1" "$(log_of mgr)"; }
life=4
export PVFS_TEST_AUTH=munge
start_pvfs -n 2 --transport tcp --set filesystem.ticket_life=$life
munged=${helpers[-1]}
chmod 711 "$tmp"
must pvio write /pvfs/mine 0 1000 1
must pvfs-chmod 600 /pvfs/mine

# holds NAME WORD...: starts pvio, and returns when it holds its file or lock; its pid is in $held
holds() {
	local name=$1
	shift

	mkfifo "$name"
	pvio "$@" <"$name" >"$name.said" 2>"$name.err" & held=$!
	helpers+=("$held")
	exec {end}>"$name"
	until_true 30 grep -q holding "$name.said"
}
tickets() { grep -c ":$1:pvio): opens session" "$(log_of mgr)"; }

# ---- one that gets others goes on ----

PVFS_LOG=info holds stays make_later /pvfs/made
stays=$held stays_end=$end
until_true 30 grep -q 'has another ticket' stays.err
sleep $((life + 1))
exec {stays_end}>&-
wait $stays || fail "$(cat stays.said stays.err)"
expect 1 tickets $stays

# ---- another user than before ----

holds other become /pvfs/mine 1
other=$held other_end=$end
until_true 30 logged "its session belongs to another user"
until_true 30 grep -q 'this program has changed its user' other.err
sleep $((3 * life + 1)) # a capability that was given at the end lives for two more
echo >&$other_end
exec {other_end}>&-
wait $other && fail "he goes on as root: $(cat other.said)"
grep -qx EACCES other.said || fail "$(cat other.said other.err)"
logged ":$other:pvio): session .*: its ticket has ended" || fail "the manager said nothing"

# ---- munged is unavailable for longer than that ----

holds alone make_later /pvfs/never
alone=$held alone_end=$end
stand_still $munged
sleep $((life + 1))
exec {alone_end}>&-
wait $alone && fail "it goes on without a ticket"
logged ":$alone:pvio): session .*: its ticket has ended" || fail "the manager said nothing"
kill -CONT $munged
must_fail pvfs-stat /pvfs/never

# ---- his locks stay as long as his connection, and end when he is evicted ----

mkdir own
munged --foreground --force --key-file="$tmp/munge.key" --socket="$tmp/own/socket" \
	--pid-file="$tmp/own/pid" --log-file="$tmp/own/log" --seed-file="$tmp/own/seed" \
	>"$tmp/own/output" 2>&1 & own=$!
until_true 30 munge -s x -S "$tmp/own/socket" >/dev/null 2>&1
sed "s|munge_socket=$tmp/munge|munge_socket=$tmp/own/socket|" "$state/pvfstab" >own/tab
PVFSTAB_FILE=$tmp/own/tab holds locker keep /pvfs/mine l
must kill $own
until_true 30 grep -q 'no ticket' locker.err
sleep $((life + 1))
mkfifo waiter
pvio keep /pvfs/mine l <waiter >waiter.said 2>&1 &
helpers+=("$!")
exec {end}>waiter
# prints age, files and locks
locker() { pvfs-evict -l /pvfs | awk -v p=":$held:pvio" '$0 ~ p && $7 == 1 { print $1 }'; }
id=$(locker)
[ -n "$id" ] || fail "its lock is gone: $(pvfs-evict -l /pvfs)"
must_fail grep holding waiter.said
expect "1 session evicted" pvfs-evict -s "$id" /pvfs
until_true 30 grep -q holding waiter.said
