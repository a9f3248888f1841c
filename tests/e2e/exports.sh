#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The rights of a client by its network: networks that may connect, that may only read, and whose
# root may act for users; and squashing of root or of all users.  A client on the manager's own
# host, over local, is not restricted.
. "$(dirname "$0")/functions.sh"
requires root
requires tcp
requires tool setpriv
public pvio

start_pvfs -n 2 --transport pvfs
chmod 755 "$state"
sed 's/port=/fabric=strict:tcp,timeout=20,port=/' "$PVFSTAB_FILE" >far
export PVFSTAB_FILE

# far COMMAND...: runs it over tcp, from 127.0.0.1
far() { PVFSTAB_FILE=$tmp/far "$@"; }
alice() { as_user 1001 1001 '' "$@"; }
owner() { expect "$1" bash -c "pvio stat $2 | cut -d' ' -f3-4 | head -n 1"; }

# with SECTION LINE...: restarts the servers with these additional lines, until the next call
cp "$state/pvfs.conf" plain.conf
with() {
	local section=$1 line
	shift

	cp plain.conf "$state/pvfs.conf"
	for line; do
		sed -i "s|^\[$section\]\$|&\n$line|" "$state/pvfs.conf"
	done
	must cluster restart
}

expect ok pvio mkdir /pvfs/pub
expect ok pvio chmod 1777 /pvfs/pub
expect ok far pvio write /pvfs/pub/root 0 10000 1
owner '0 0' /pvfs/pub/root

# ---- whom root counts as ----

with mgr 'squash = root'
expect ok far pvio write /pvfs/pub/squashed 0 10000 1
owner '65534 65534' /pvfs/pub/squashed
expect EACCES far pvio mkdir /pvfs/no
expect EPERM far pvio chmod 700 /pvfs/pub/root
expect ok pvio chmod 600 /pvfs/pub/root
expect EACCES far pvio read /pvfs/pub/root
expect ok far alice pvio write /pvfs/pub/alice 0 10000 1
owner '1001 1001' /pvfs/pub/alice
expect ok pvio mkdir /pvfs/here
owner '0 0' /pvfs/here
# other users do not belong to the group either
expect ok pvio write /pvfs/pub/group 0 10000 1
expect ok pvio chmod 640 /pvfs/pub/group
expect EACCES far as_user 1001 0 '' pvio read /pvfs/pub/group
expect EACCES far as_user 1001 1001 0 pvio read /pvfs/pub/group
expect ok as_user 1001 1001 0 pvio check /pvfs/pub/group 0 10000 1
# open files and locks survive exec() as for other clients
must far "$PVFS_BUILD/tests/e2e/lib/lib_exec" locks /pvfs/pub

with mgr 'squash = all' 'squash_uid = 4242' 'squash_gid = 4343'
expect ok far alice pvio write /pvfs/pub/all 0 10000 1
owner '4242 4343' /pvfs/pub/all
expect ok alice pvio write /pvfs/pub/all-here 0 10000 1
owner '4242 4343' /pvfs/pub/all-here
expect EACCES far alice pvio openw /pvfs/pub/alice
expect ok pvio mkdir /pvfs/here2
owner '0 0' /pvfs/here2

# ---- networks that only read ----

with mgr 'read_only = 10.0.0.0/8, 127.0.0.0/8'
expect ok far pvio check /pvfs/pub/squashed 0 10000 1
expect EROFS far pvio openw /pvfs/pub/squashed
expect EROFS far pvio creat /pvfs/pub/new
expect EROFS far pvio mkdir /pvfs/pub/new
expect EROFS far pvio unlink /pvfs/pub/squashed
expect EROFS far pvio truncate /pvfs/pub/squashed 0
expect EROFS far pvio chmod 600 /pvfs/pub/squashed
expect EROFS far pvio rename /pvfs/pub/squashed /pvfs/pub/new
expect EROFS far pvio access /pvfs/pub/squashed 2
expect ok far pvio access /pvfs/pub/squashed 4
# an administrator there can list the sessions of clients, but not end them
must far pvfs-evict --list /pvfs
must_fail far pvfs-evict -u 1 /pvfs
grep -q 'Read-only file system' "$tmp/output" || fail "$(cat "$tmp/output")"
expect ok pvio write /pvfs/pub/squashed 0 10000 2
expect ok far pvio check /pvfs/pub/squashed 0 10000 2

# ---- networks that may connect ----

with filesystem 'allow = 10.0.0.0/8 fd00::/8'
expect ok pvio check /pvfs/pub/squashed 0 10000 2
expect EACCES far pvio stat /pvfs/pub/squashed
grep -q 'in none of the networks of \[filesystem\] allow' "$(log_of mgr)" ||
	fail "the manager does not say whom it refused"
until_true 30 metric_above 0 mgr refused "other network"
with filesystem 'allow = 127.0.0.1'
expect ok far pvio check /pvfs/pub/squashed 0 10000 2

# ---- settings that are wrong ----

for line in 'squash = some' 'squash_uid = 0' 'squash_gid = 0' 'read_only = 10.0.0.1/8' \
	'speakers = everywhere'; do
	sed "s|^\[mgr\]\$|&\n$line|" plain.conf >wrong.conf
	must_fail "$PVFS_BUILD/mgr/pvfs-mgr" --config wrong.conf
	grep -q "wrong.conf:[0-9]*: .*${line%% *}.* write" "$tmp/output" ||
		fail "$line: $(cat "$tmp/output")"
done
