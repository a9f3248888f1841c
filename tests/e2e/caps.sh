#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Iods require capabilities. A client that steals, forges or keeps the capability of another client
# gets no access to the file. A client that follows the rules is never rejected: while modes, names,
# keys and servers change, and for longer than the life of a capability.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
. "$e2e/capping.sh"
requires root
requires tool setpriv
requires tool git
requires tool tar

export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
as() { setpriv --reuid="$1" --regid="$1" --clear-groups -- "${@:2}"; }
let_go() { exec 6>&- 7<&- 8<&-; }
at_end let_go # before the mount goes

start_pvfs -n 2 --transport pvfs --set filesystem.auth=key --set filesystem.key_user=root \
	--set mgr.session_timeout=2
sed "s|transport=[a-z]*|transport=local|" "$state/pvfstab" >"$tmp/local"
sed -i "s|transport=[a-z]*|transport=tcp,auth=key,key=$state/key|" "$state/pvfstab"

# ---- clients that keep to no rules ----

for f in one two; do expect ok pvio write /pvfs/$f 0 100000 1; done
bare_begins 1

# ---- a handle opens nothing, nor does another right, another file's, another session's ----

hostile() { # four sessions
	local a=$1 b=$2 c=$3 d=$4

	says ok open $a /one r
	says ok open $b /one w
	says ok open $c /two r
	says ENOKEY read $b $a -
	says ENOKEY write $a $a -
	says ok read $a $a
	says ok read $a $a -
	says ENOKEY write $a $a
	says ok write $b $b
	says ok count $a $a
	says ENOKEY count $b $b
	says ENOKEY read $a $c -
	says EKEYREJECTED read $c $a
	says EKEYREJECTED write $a $b
	says EKEYREJECTED renew $a $b
	says ENOKEY write $a $b -
	says ok aim $c $a
	says ENOKEY read $c $c
	# invented
	says ok open $d /two r
	says ok forge $d
	says EKEYREJECTED read $d $d
	says EKEYREJECTED renew $d $d
	says ENOKEY read $d $d -
}
hostile a b c d
hostile e f g h
# it is also rejected over the other transport
says EKEYREJECTED write a f
says EKEYREJECTED write e b

# ---- a removed key invalidates capabilities that were not renewed before ----

each() { # WANTED ORDER of a and b...: it, and the same of e and f
	says "$@"
	says "$1" "$2" $(tr ab ef <<<"${*:3}")
}
key=$(<"$state/key")
new=$(od -An -v -tx1 -N32 /dev/urandom | tr -d ' \n')
printf '%s\n%s\n' "$key" "$new" >"$state/key"
reload 0 1 mgr
each ok write b b -
printf '%s\n%s\n' "$new" "$key" >"$state/key"
reload 0 1 mgr
for who in a e; do
	says ok open $who /two r
	says ok read $who $who
done
each ok write b b -
echo "$new" >"$state/key"
reload 0 1 mgr
each ok read a a
each ENOKEY write b b -
each EKEYREVOKED write b b
each none renew b b

# ---- the end of a session ends its capabilities, though it is still used ----

# the session of a client that wrote and fell silent, and that of one that said BYE and only read
for who in b f; do
	says ok open $who /two w
	says ok write $who $who
	says ok leave $who
done
for who in a e; do
	says ok bye $who
done
for who in "write b b" "read a a" "write f f" "read e e"; do
	until_true 60 said ESTALE $who -
	says ESTALE $who
done
# the manager tells a restarted iod
must cluster kill-iod 0
must cluster start-iod 0
says ok again a
says ESTALE read a a

# ---- ... and stays theirs when manager and iods are restarted ----

must pvfs-mkdir /pvfs/now # whose end was recorded before this is
must cluster kill-mgr
must cluster kill-iod 0
must cluster start-mgr
must cluster start-iod 0
for who in a e; do
	says ok again $who
	says ESTALE read $who $who
done
bare_ends

# ---- capabilities of open files are renewed, whatever the mode becomes ----

life=10 # of a ticket; of a capability twice that, which a slow machine needs for what lies between
sed -i "/^session_timeout = 2$/d; s/^auth = key/&\nticket_life = $life/" "$state/pvfs.conf"
must cluster restart
bare_begins 2
for who in b f; do
	says ok open $who /one w
done
must pvfs-chmod 0 /pvfs/one
each ok write b b
for who in b f; do
	until_true 60 said EKEYREVOKED write $who $who
done
each ENOKEY write b b -
each ok renew b b
each ok write b b

# ---- capabilities of an ended session are not renewed for its number ----

for who in c h; do
	says ok open $who /two r
	says ok renew $who $who
	says ok bye $who
	says ok back $who
	says none renew $who $who
	says ok open $who /two r
	says ok renew $who $who
done

# ---- a false claim to have the file open, passed on ----

says ok as g 1001
says EACCES open g /one r
says EACCES claim g b
# the client has the file open, but without any right
says EBADF hold g /one
says ENOKEY read g b -

# ---- after a start of the manager only capabilities that have not ended are renewed ----

for who in a e; do
	says ok open $who /two r
done
must cluster kill-mgr
must cluster start-mgr
each ok renew b b
for who in a e; do
	until_true 60 said EKEYREVOKED read $who $who
	says none renew $who $who
done
bare_ends
must pvfs-chmod 644 /pvfs/one

# ---- an open file over chmod, chown and unlink ----

m=$tmp/m
mount_at "$m" -o cache=none
echo first >"$m/f"
exec 6>>"$m/f" 7<"$m/f" 8<"$m/f"
must chmod 0 "$m/f"
must chown 77:77 "$m/f"
must eval 'echo second >&6'
expect first head -n 1 <&7
must rm "$m/f"
must eval 'echo third >&6'

# the session has no ticket, and makes no call meanwhile
mkfifo wakes
PVFSTAB_FILE=$tmp/local pvio keep /pvfs/one r <wakes >kept & kept=$!
helpers+=("$kept")
exec {wake}>wakes
until_true 30 grep -q holding kept
long=$((SECONDS + 2 * life + 2))

# ---- users who may not open it ----

must chmod 1777 "$m"
must as 1001 sh -c "umask 077; echo mine >$m/mine"
expect mine as 1001 cat "$m/mine"
must_fail as 1002 cat "$m/mine"
must_fail as 1002 sh -c "echo x >>$m/mine"
must chmod 644 "$m/mine"
expect mine as 1002 cat "$m/mine"
must_fail as 1002 sh -c "echo x >>$m/mine"

# ---- clients that change modes of their open files ----

in_m() (cd "$m/$1" && shift && "$@")
repo() {
	git -c init.defaultBranch=main init -q . && git config user.email a@b &&
		git config user.name a && echo text >a && git add a && git commit -qm one &&
		echo more >>a && git commit -qam two && git gc -q && git fsck --strict &&
		git clone -q . ../clone
}
must mkdir "$m/repo"
must in_m repo repo
expect "text
more" cat "$m/clone/a"
mkdir tree
(umask 0333; for i in {1..20}; do head -c 100000 /dev/urandom >tree/$i; done)
must tar cf tree.tar tree
must tar xpf tree.tar -C "$m"
must diff -r tree "$m/tree"

# ---- data past the mount ----

must past cp -r "$m/tree" "$m/tree2"
must past diff -r tree "$m/tree2"
# a program inherits the open file from another one
for way in '>' '>>'; do
	echo first >"$m/given"
	must past bash -c "(echo second; exec perl -e 'print qq(third\n)') $way/pvfs/given"
	[ "$way" = '>' ] || expect first sed 1q "$m/given"
	expect "second
third" tail -n 2 "$m/given"
done

# ---- without it, every way: a copy, lent, in lists, by counters, MPI-IO ----

for tab in "$state/pvfstab" "$tmp/local"; do
	export PVFSTAB_FILE=$tab
	must pvfs-cp --verify -r -q tree "/pvfs/tree.${tab##*/}"
	expect ok pvio write /pvfs/direct 0 100000 1
	for i in 1 2 3 4 5 6 7 8; do expect ok pvio check /pvfs/direct 0 100000 1; done
	if command -v mpiexec.mpich >/dev/null && ldd "$(command -v pvfs-test)" | grep -q libmpich; then
		must mpiexec.mpich -n 4 \
			"$(command -v pvfs-test)" -b 262144 -i 3 -f /pvfs/mpi >text
	fi
done
export PVFSTAB_FILE=$state/pvfstab

# ---- files that were open for longer than a capability lives ----

[ $SECONDS -ge $long ] || sleep $((long - SECONDS))
must eval 'echo fourth >&6'
expect "first
second
third
fourth" cat <&8
let_go
echo >&"$wake"
wait "$kept"
expect "holding
ok ok ok" cat kept
exec {wake}>&-

# ---- new processes of servers, under load ----

head -c 3000000 /dev/urandom >data
copy_on & copies=$!
exec 6>>"$m/log"
for server in 0 1 mgr 0; do
	must eval 'echo $server >&6'
	if [ $server = mgr ]; then
		must cluster kill-mgr
		must cluster start-mgr 6>&-
	else
		must cluster kill-iod $server
		must cluster start-iod $server 6>&-
	fi
done
must eval 'echo end >&6'
exec 6>&-
touch enough
wait $copies || fail "the copies did not survive"
expect "0 1 mgr 0 end" eval "xargs <$m/log"

# ---- no client that followed the rules was rejected ----

grep -h "is refused:" "$state"/log/*.log | grep -v '(test)' >"$tmp/output" &&
	fail "$(cat "$tmp/output")"
grep -qh "(test): .* is refused: it showed no capability for the file" "$state"/log/*.log ||
	fail "nobody is told who was refused"

# ---- a network that may only read from now on ----

exec 6>"$m/late" 7<"$m/late"
must eval 'echo more >&6'
must cluster kill-mgr 6>&- 7<&-
sed -i 's|^\[mgr\]$|&\nread_only = 127.0.0.0/8|' "$state/pvfs.conf"
must cluster start-mgr 6>&- 7<&-
refused() { ! echo late >&6; } 2>>"$tmp/late"
until_true 60 refused
grep -q 'Read-only' "$tmp/late" || fail "$(<"$tmp/late")"
expect more head -n 1 <&7
let_go
unmount "$m" $daemon
