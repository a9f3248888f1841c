#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs as they come from Debian say on a mount, with each kind of cache, what they
# say elsewhere: git, rsync, SQLite, python, perl, archives, keys, an editor, a
# compiler and a debugger.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
for tool in git rsync sqlite3 python3 perl zip unzip ssh-keygen vim less gcc gdb; do
	requires tool $tool
done
. "$e2e/apps.sh"

names='git rsync sqlite python perl archives keys editor compiler'
start_pvfs -n 3
apps "$tmp/local" $names sqlite_wal >"$tmp/want"
for cache in none open; do
	mount_at "$tmp/m" -o cache=$cache
	wal=
	# with cache=none WAL's shared memory wants Linux 6.6
	if [ $cache = open ] || maps_shared; then wal=sqlite_wal; fi
	apps "$tmp/m/$cache" $names $wal >"$tmp/have"
	[ -n "$wal" ] || sed -i '/^== sqlite_wal/,$d' "$tmp/want"
	diff "$tmp/want" "$tmp/have" || fail "cache=$cache: not as elsewhere"
	unmount "$tmp/m" $daemon
done
