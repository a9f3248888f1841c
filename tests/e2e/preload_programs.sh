#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that bypass the mount give the same results as elsewhere: those of the system (also with
# cache=open), git, sqlite3 and python.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
. "$e2e/ordinary.sh"

start_pvfs -n 3
results "$tmp/local" >"$tmp/want"
all_of() {
	mount_at "$tmp/m" -o cache=$1
	past_all
	results "$tmp/m/$1" >"$tmp/have"
	past_none
	diff "$tmp/want" "$tmp/have" || fail "cache=$1: not as elsewhere"
}
all_of open
unmount "$tmp/m" $daemon
all_of none
# the programs had sessions of their own
for program in cat cp dd tar; do
	grep -q ":$program): opens session" "$(log_of mgr)" ||
		fail "$program did not go past the mount"
done

# times and modes are those of the source, whichever close is the last
mkdir "$tmp/from"
head -c 200000 /dev/urandom >"$tmp/from/a"
touch -d '2001-02-03 04:05:06.789 UTC' "$tmp/from/a"
chmod 4751 "$tmp/from/a"
past cp -a "$tmp/from" "$tmp/m/to"
same_tree "$tmp/from" "$tmp/m/to"
tar cf "$tmp/from.tar" --format=posix -C "$tmp" from
past tar xpf "$tmp/from.tar" -C "$tmp/m"
same_tree "$tmp/from" "$tmp/m/from"

git_work() {
	export HOME=$tmp GIT_CONFIG_NOSYSTEM=1
	git -c init.defaultBranch=main init -q "$1" && cd "$1" || exit
	git config user.email a@b && git config user.name c
	cp -r "$top/docs" "$top/common/util" . && git add . &&
		git commit -qm one && git gc -q && git fsck &&
		git clone -q . "$1.clone" && git -C "$1.clone" log --oneline |
		wc -l
}
if command -v git >/dev/null; then
	past_all
	expect 1 eval "(git_work '$tmp/m/git')"
	past_none
	git -C "$tmp/m/git.clone" fsck >/dev/null 2>&1 || fail "git fsck"
	diff -r "$top/docs" "$tmp/m/git.clone/docs" || fail "git clone differs"
fi
if python3 -c 'import sqlite3' 2>/dev/null; then
	expect "1000 ok" past python3 - "$tmp/m/db" <<-'END'
	import sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.execute("create table t (a integer primary key, b blob)")
	with db: db.executemany("insert into t (b) values (?)",
		((bytes([i % 256]) * 500,) for i in range(1000)))
	with db: db.execute("update t set b = zeroblob(9000) where a % 7 = 0")
	print(db.execute("select count(*) from t").fetchone()[0],
		db.execute("pragma integrity_check").fetchone()[0])
	END
fi
unmount "$tmp/m" $daemon
