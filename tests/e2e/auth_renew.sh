#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A client that lives longer than its ticket gets another one, and its session stays.  This also
# holds at servers that were started after the first ticket expired, and at a manager on another
# host, whose clock does not apply to earlier tickets.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/capping.sh"
requires root

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
life=4
let_go() { exec 6>&-; }
at_end let_go # before the mount goes

start_pvfs -n 2 --transport pvfs --set filesystem.auth=key --set filesystem.key_user=root \
	--set filesystem.ticket_life=$life --set filesystem.capabilities=on
sed -i "s|transport=[a-z]*|transport=tcp,auth=key,key=$state/key,seal=auth|" "$state/pvfstab"
mount_at "$tmp/m" -o cache=none
sessions() { mgr_log | grep -c "(.*pvfs-fuse.*): opens session"; }
expect 1 sessions

# ---- an open file of that session ----

exec 6>"$tmp/m/file"
must eval 'echo before >&6'
sleep $((life + 1))
for server in 0 1; do
	must cluster kill-iod $server
	must cluster start-iod $server 6>&-
done
must cluster kill-mgr
must cluster start-mgr 6>&-
must eval 'echo behind >&6'
exec 6>&-
expect "before
behind" cat "$tmp/m/file"

# ---- another key, while it stays: its copy of the file changes with that of the servers ----

rekey() { # LINE...: of the file, which all servers have read
	(umask 077; printf '%s\n' "$@" >"$state/key.new") &&
		must mv "$state/key.new" "$state/key"
	reload 0 1 mgr
}
new_key() { od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n'; }
old=$(<"$state/key")
new=$(new_key)
exec 6>>"$tmp/m/file"
rekey "$old" "$new"
rekey "$new" "$old"
sleep $((life + 1))
must eval 'echo changing >&6'
rekey "$new"
sleep $((life + 1))
must eval 'echo changed >&6'
exec 6>&-
expect "changing
changed" tail -n 2 "$tmp/m/file"

expect 1 sessions
grep -h "refused (\|does not get" "$state"/log/*.log >"$tmp/output" &&
	fail "$(cat "$tmp/output")"
unmount "$tmp/m" $daemon

# ---- servers by their addresses: the iods do not give tickets, and are not asked ----

must timeout 60 pvfs-top --batch -d 1 -n $((2 * life)) >top 2>top.err
must grep -q '3 of 3 servers up' top
[ ! -s top.err ] || fail "$(cat top.err)"

# ---- the managers on other hosts, which run for longer, and for less long ----

elsewhere() { # UP COMMAND...: as on a host that runs for so many seconds longer
	LD_PRELOAD=$PVFS_BUILD/tests/e2e/libpvskew.so PVSKEW_UP=$1 \
		ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" "${@:2}"
}
moves() { # UP: from one to the next
	local mgr

	for mgr in $(managers); do
		must cluster kill-mgr ${mgr//[!0-9]/} 6>&- 7>&-
	done
	must elsewhere "$1" cluster start >/dev/null 6>&- 7>&-
}
of_it() { mgr_log | grep -c ":$1:pvio): $2 session"; }
# HOLDER TIMES
resumed() { [ "$(of_it "$1" resumes)" = "$2" ]; }
holds() { # NAME: a process with an open file; sets $held
	mkfifo "$1"
	pvio hold "/pvfs/$1" <"$1" >"$1.said" 6>&- & held=$!
	helpers+=("$held")
}
moves 0
holds awake
awake=$held
exec 6>awake
until_true 30 grep -q holding awake.said
moves 1000000
until_true 30 resumed $awake 1
holds asleep
asleep=$held
exec 7>asleep
until_true 30 grep -q holding asleep.said
stand_still $asleep
moves 0
until_true 30 resumed $awake 2
sleep $((life + 1))
kill -CONT $asleep
ended() { mgr_log | grep -q ":$asleep:pvio): refused.*ticket has ended"; }
until_true 30 ended
exec 6>&- 7>&-
wait $awake || fail "who was awake did not survive"
expect 1 of_it $awake opens
expect 0 of_it $asleep resumes

# ---- another key, and servers that were started after that, before it has another ticket ----

at_once() { # from the one to another
	old=$(<"$state/key")
	new=$(new_key)
	rekey "$old" "$new"
	rekey "$new" "$old"
	rekey "$new"
}
anew() { # SERVER...: none is there again before all are gone
	local server

	for server; do must cluster kill-$server; done
	for server; do must cluster start-$server 6>&-; done
}
must cluster stop
sed -i '/^ticket_life/d' "$state/pvfs.conf"
sed -i 's|,seal=auth|&,timeout=15|' "$state/pvfstab"
must cluster start
mount_at "$tmp/m2" -o cache=none
opened=$(sessions)
exec 6>"$tmp/m2/again"
must eval 'echo before >&6'
sleep 1
at_once
anew 'iod 0' 'iod 1'
must eval 'echo iods >&6'
expect "$opened" sessions
sleep 1
at_once
anew mgr 'iod 0' 'iod 1'
must eval 'echo all >&6'
expect $((opened + 1)) sessions
sleep 1
at_once
anew mgr
must eval 'echo mgr >&6'
exec 6>&-
expect "before
iods
all
mgr" cat "$tmp/m2/again"
expect $((opened + 2)) sessions

if [ -n "${PVFS_TEST_MANAGERS:-}" ]; then
	unmount "$tmp/m2" $daemon
	exit
fi

# ---- the manager in a time namespace, where CLOCK_BOOTTIME is another one ----

if unshare --time --fork true 2>/dev/null; then
	mkdir "$tmp/shim"
	cat >"$tmp/shim/pvfs-mgr" <<-END
		#!/bin/sh
		exec unshare --time --boottime 1000000 --fork --kill-child \
			"$PVFS_BUILD/mgr/pvfs-mgr" "\$@"
	END
	chmod +x "$tmp/shim/pvfs-mgr"
	holds shifted
	exec 6>"$tmp/shifted"
	until_true 30 grep -q holding "$tmp/shifted.said"
	must cluster kill-mgr
	must cluster start-mgr -b "$tmp/shim" 6>&-
	until_true 30 resumed $held 1
	must cluster kill-mgr
	must cluster start-mgr 6>&-
	until_true 30 resumed $held 2
	exec 6>&-
	wait $held || fail "the session did not survive"
else
	say 'no time namespaces here'
fi

# ---- a false manager ends no session; of several ones, another one would lead ----

exec 6>>"$tmp/m2/again"
must eval 'echo here >&6'
must cluster kill-mgr
mkdir "$tmp/false"
(umask 077; new_key >false.key)
sed "s|^key = .*|key = $tmp/false.key|; s|^storage = $state/mgr|storage = $tmp/false|" \
	"$state/pvfs.conf" >false.conf
"$PVFS_BUILD/mgr/pvfs-mgr" --config false.conf >false.log 2>&1 6>&- & false_one=$!
helpers+=("$false_one")
ls "$tmp/m2/." >"$tmp/listed" 2>&1 6>&- & waits=$!
helpers+=("$waits")
until_true 30 grep -q 'ticket was made with a key that is not here' false.log
sleep 1 # it tries to make another session
must kill -0 "$waits"
kill "$false_one"
wait "$false_one"
must cluster start-mgr 6>&-
must wait "$waits"
must eval 'echo on >&6'
exec 6>&-
expect 2 grep -c "going on with a new session" "$state/log/fuse1.log"
unmount "$tmp/m2" $daemon
