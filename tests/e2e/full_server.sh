#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A server without free descriptors or places for clients rejects new clients with the reason. It
# keeps a reserve for its manager and for administrators: pvfs-ping, pvfs-stats, pvfs-doctor and
# pvfs-fsck of root work, and those of other users are rejected.
. "$(dirname "$0")/functions.sh"
requires root
requires tcp
requires tool setpriv
requires tool prlimit
requires tool python3
unset PVFS_LOG PVFS_TEST_AUTH PVFS_TEST_SET
for program in pvfs-ping pvfs-stats pvfs-doctor; do public $program; done
leak_check=detect_leaks=0

limit=1024 # descriptors of a server that is to run out of them
enofiles=63 enoseats=87
files='few descriptors are left' seats='max_sessions, or host_sessions'
alice() { as_user 1001 1001 '' "$@"; }
# A host that has only these mounts.
host=$tmp/host
mkdir -p "$host/proc/self" "$host/etc"
touch "$host/proc/self/mounts" "$host/etc/fstab"
skipped=clock,users,descriptors,memlock,rdma-port,rdma-gid,rdma-mtu,rdma-cm,memory,huge-pages,shm
doctor() {
	"$@" pvfs-doctor --root "$host" --skip "$skipped,ptrace,tcp,version,use" -t 60 >found 2>err
}

# fill WHO STATUS: starts as many clients as the server accepts
fill() {
	rm -f go crowd
	mkfifo go
	python3 "$e2e/full_server.py" 127.0.0.1 "$(port_of "$1")" "$(conf_value filesystem id)" \
		"$(log_of "${1/./}")" "$2" <go >crowd 2>&1 &
	crowd=$!
	helpers+=("$crowd")
	exec 6>go
	until_true 120 test -s crowd
	grep -q '^full after' crowd || fail "$1: $(cat crowd)"
	say "$1: $(cat crowd)"
}
leave() {
	exec 6>&-
	wait "$crowd" || fail "the crowd: $(cat crowd)"
}

fsck() { "$PVFS_BUILD/mgr/fsck/pvfs-fsck" --config "$state/pvfs.conf" >out 2>err; }

# tools_work WHAT FIX: the tools of root work, and report that the server is full
tools_work() {
	fsck || fail "pvfs-fsck: $(cat out err)"
	pvfs-ping >out 2>err || fail "pvfs-ping: $(cat out err)"
	grep -q "no room: $1" out || fail "pvfs-ping does not tell: $(cat out)"
	pvfs-stats >out 2>err || fail "pvfs-stats: $(cat out err)"
	doctor env
	grep -A 1 -E "^found: reach.* is full: the server has no room: $1" found |
		grep -qE "^    fix: .*$2" || fail "pvfs-doctor: $(cat found err)"
	[ "$(grep -c '^found: ' found)" = 1 ] || fail "it finds more: $(cat found)"
}

# others_do_not WHAT: tools of another user, and a program that is not a tool, are rejected
others_do_not() {
	alice pvfs-ping >out 2>err && fail "pvfs-ping of somebody else: $(cat out)"
	grep -q "full .*no room: $1.*tools of root" out || fail "pvfs-ping: $(cat out err)"
	alice pvfs-stats >out 2>err && fail "pvfs-stats of somebody else"
	grep -q "no room: $1.*tools of root" err || fail "pvfs-stats: $(cat out err)"
	doctor alice && fail "pvfs-doctor of somebody else: $(cat found)"
	grep -qE "^found: reach.* is full: the server has no room: $1" found ||
		fail "pvfs-doctor of somebody else: $(cat found err)"
	PVFS_TIMEOUT=3 pvio write /pvfs/file 0 100000 1 >out 2>&1 &&
		fail "an ordinary program is let in"
	grep -q "no room: $1" out || fail "an ordinary program: $(cat out)"
	[ "$who" = mgr ] || return 0 # it alone is asked for the servers
	PVFS_TIMEOUT=3 pvio servers /pvfs >out 2>&1 &&
		fail "an ordinary program that asks for the servers is let in"
	grep -q "no room: $1" out || fail "one that asks for the servers: $(cat out)"
}

works_again() {
	until_true 60 pvio write /pvfs/file 0 100000 1 >out 2>&1
	expect ok pvio check /pvfs/file 0 100000 1
	doctor env || fail "pvfs-doctor afterwards: $(cat found err)"
}

# ---- few descriptors ----

PVFS_TEST_SCHEME=pvfs start_pvfs -n 1
chmod 755 "$state"
must pvio write /pvfs/file 0 100000 1 >out
for who in mgr iod.0; do
	must prlimit --pid "$(cluster pid "${who/./}")" --nofile=$limit:$limit
	fill $who $enofiles
	tools_work "$files" LimitNOFILE
	others_do_not "$files"
	if [ $who = iod.0 ]; then
		# the manager gets its place before any client
		must cluster kill-mgr
		must cluster start-mgr 6>&-
		tools_work "$files" LimitNOFILE
	fi
	grep -q 'few descriptors are left.*raise LimitNOFILE' "$(log_of "${who/./}")" ||
		fail "$who does not log why"
	leave
	works_again
done
must cluster stop

# ---- all places are taken ----

state=$tmp/places
PVFS_TEST_SCHEME=pvfs start_pvfs -n 1 --set mgr.max_sessions=32 --set iod.max_sessions=32 \
	--set mgr.host_sessions=0 --set iod.host_sessions=0
chmod 755 "$state"
for who in mgr iod.0; do
	fill $who $enoseats
	tools_work "$seats" max_sessions
	others_do_not "$seats"
	leave
	works_again
done
must cluster stop

# ---- a user is proved by a ticket, on whichever host; without one nobody is root ----

state=$tmp/tickets
start_pvfs -n 1 --set filesystem.auth=key --set filesystem.key_user=root \
	--set filesystem.seal=none
export PVFS_AUTH_LIBRARY=$PVFS_BUILD/client/lib/auth/libpvfs-auth.so
must prlimit --pid "$(cluster pid mgr)" --nofile=$limit:$limit
fill mgr $enofiles
pvfs-ping >out 2>err && fail "without a ticket: $(cat out)"
sed -i "s|pvfs port=|pvfs auth=key,key=$state/key,port=|" "$state/pvfstab"
pvfs-ping >out 2>err || fail "pvfs-ping with a ticket: $(cat out err)"
grep -q "no room: $files" out || fail "it does not tell: $(cat out)"
must pvfs-stats >out
leave
must pvfs-ping >out
exit 0
