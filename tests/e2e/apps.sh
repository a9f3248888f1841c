# SPDX-License-Identifier: BSD-2-Clause
# apps.sh - larger programs work in a folder and print their results as text; sourced after
# functions.sh. Each starts in a folder of its own, and works on copies of $source.
for tool in git rsync sqlite3 python3 perl zip unzip ssh-keygen vim less gcc gdb \
	setfacl setfattr; do
	requires tool $tool
done
all_apps='git rsync sqlite python perl archives tree kept keys editor compiler waiting'

source=$tmp/source
mkdir "$source"
(cd "$top" && tar cf - docs common/util client/tools) | tar xf - -C "$source"
export HOME=$tmp GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE='2001-02-03T04:05:06Z' \
	GIT_COMMITTER_DATE='2001-02-03T04:05:06Z' LC_ALL=C

app_git() {
	git -c init.defaultBranch=main init -q repo && cd repo || return
	git config user.email a@example.org && git config user.name a
	cp -a "$source"/* . && git add . && git commit -qm one
	echo more >>docs/users.md && git mv docs/mpi.md moved.md &&
		git commit -qam two && git log --format=%H
	git worktree add -q ../side HEAD~1 && git -C ../side status --short
	git branch -q other HEAD~1 && git merge -q other && git stash list
	git gc -q && git fsck --full 2>&1 && cd .. &&
		git clone -q repo clone && diff -r -x .git repo clone &&
		git -C clone log --format=%H
}
app_rsync() {
	rsync -a "$source/" first/ && diff -r "$source" first
	rsync -ai "$source/" first/
	echo changed >>first/docs/users.md
	rsync -aic "$source/" first/ | grep -c users.md
	rsync -a --delete --inplace first/ second/ && diff -r first second
}
# sqlite_with MODE: MODE is a journal mode of SQLite
sqlite_with() {
	sqlite3 "$1.db" "pragma journal_mode=$1;" \
		'create table t (a integer primary key, b);' \
		"with recursive n(i) as (select 1 union all select i + 1 from n
			where i < 2000) insert into t select i, hex(i * i) from n;" \
		'create index i on t (b);' 'delete from t where a % 3 = 0;' \
		'pragma integrity_check;' 'select count(*), sum(length(b)) from t;'
}
# sqlite_by_several FILE FORMAT: three processes execute 25 statements each. FORMAT contains the
# number of the process and a count.
sqlite_by_several() {
	local k n pids=()

	for k in 1 2 3; do
		(for n in {1..25}; do
			sqlite3 -cmd '.timeout 60000' "$1" \
				"$(printf "$2" $k $n)" || exit
		done) &
		pids+=($!)
	done
	wait "${pids[@]}"
}
app_sqlite() {
	local mode

	for mode in delete truncate persist memory off; do sqlite_with $mode; done
	sqlite3 many.db 'create table t (who, n);'
	sqlite_by_several many.db 'insert into t values (%d, %d);'
	sqlite3 many.db 'select who, count(*) from t group by who;' \
		'pragma integrity_check;'
}
# Several processes share memory, because the WAL index is a mapped file.
app_sqlite_wal() {
	sqlite_with wal
	sqlite_by_several wal.db "insert into t (b) values ('%d %d');"
	sqlite3 wal.db 'select count(*) from t;' 'pragma integrity_check;'
}
app_python() {
	python3 -m venv --without-pip env && env/bin/python -c 'import sys
print(sys.prefix.rsplit("/", 1)[1])'
	python3 -m compileall -q "$PWD/env" && echo compiled
	python3 - <<-'END'
		import json, shutil, tempfile, os, mmap, fcntl
		with tempfile.TemporaryDirectory(dir=".") as d:
		    p = os.path.join(d, "a")
		    json.dump(list(range(1000)), open(p, "w"))
		    shutil.copy2(p, p + "2")
		    shutil.copytree(d, "tree")
		    print(json.load(open(p + "2"))[-1], sorted(os.listdir("tree")))
		with open("locked", "w") as f:
		    fcntl.lockf(f, fcntl.LOCK_EX); print("locked")
		with open("sparse", "wb") as f:
		    os.posix_fallocate(f.fileno(), 0, 1 << 20)
		    os.ftruncate(f.fileno(), 100)
		print(os.path.getsize("sparse"))
	END
}
app_perl() {
	cp "$source/docs/users.md" text && perl -pi -e 's/mount/MOUNT/g' text &&
		grep -c MOUNT text
	perl -e 'open F, "+>", "f"; print F "x" x 100000; seek F, 5000, 0;
		read F, $b, 3; print "$b ", -s F, "\n"'
}
app_archives() {
	(cd "$source" && zip -qr "$OLDPWD/a.zip" .) && unzip -q a.zip -d un &&
		diff -r "$source" un && unzip -tq a.zip
	mkdir -p pkg/DEBIAN pkg/usr/share/x && cp "$source/docs/users.md" \
		pkg/usr/share/x && cat >pkg/DEBIAN/control <<-END
		Package: x
		Version: 1
		Architecture: all
		Maintainer: a <a@example.org>
		Description: x
	END
	dpkg-deb --root-owner-group -b pkg x.deb >/dev/null &&
		dpkg-deb -x x.deb got && diff -r pkg/usr got/usr && dpkg-deb -f x.deb Package
	tar czf t.tgz -C "$source" . && tar tzf t.tgz | wc -l
}
# The contents of a tree, which tar and cp copy; find, xargs and grep in the tree.
app_tree() {
	cp -a "$source" a && ln a/docs/users.md a/second && ln -s docs a/link &&
		chmod 2751 a/docs && truncate -s 3M a/holes && echo end >>a/holes &&
		printf x | dd of=a/holes bs=1 seek=1M conv=notrunc status=none
	touch -d '2001-02-03 04:05:06.789 UTC' a/docs a/second
	tar --format=posix -cSf a.tar a && mkdir t && tar -xSpf a.tar -C t && same_tree a t/a
	tar -df a.tar && tar tf a.tar | wc -l && cp -a a c && same_tree a c
	find t/a -type f -links 2 | sort && find c -size +100k | sort
	find c -newer c/second ! -newer a.tar | wc -l
	find c -name '*.md' -print0 | xargs -0 -P 3 -n 1 grep -c PVFS | sort
	grep -rn --include='*.h' 'struct tool' c | wc -l && grep -rL PVFS c/docs | sort
	find c -type f -perm 644 -delete && find c ! -type d | sort
}
# Attributes and access control lists are copied by tar, cp, rsync and mv.
listed() { find . -print0 | sort -z | xargs -0 getfattr -d && getfacl -R d/f d/g; }
app_kept() {
	local all='--acls --xattrs --xattrs-include=*' copy

	mkdir -p a/d && echo text >a/d/f && setfacl -m u:1234:rx,m:rx a/d/f &&
		setfattr -n user.long -v "$(printf %0900d 1)" a/d/f &&
		setfattr -n user.dir -v 1 a/d && setfacl -d -m g:77:rwx a/d &&
		echo inherits >a/d/g && (cd a && listed) >want && wc -l <want
	tar $all -cf a.tar a && mkdir t && tar $all -xpf a.tar -C t
	cp -a a c && rsync -aAX a/ r/ && mv c m
	for copy in t/a m r; do (cd $copy && listed) | diff want -; done
}
app_keys() {
	ssh-keygen -q -t ed25519 -N '' -f key && ssh-keygen -y -f key | cut -d' ' -f1
	stat -c '%n %a' key key.pub
}
app_editor() {
	cp "$source/docs/users.md" text &&
		vim -u NONE -es -c '%s/PVFS/pvfs/g' -c 'wq' text </dev/null
	grep -c pvfs text && ls -A
	less text | head -n 1
}
app_compiler() {
	cp -a "$source/common" . && printf '%s\n' '#include <stdio.h>' \
		'int twice(int a) { return 2 * a; }' \
		'int main(void) { return !printf("%d\n", twice(21)); }' >main.c
	gcc -g -c main.c -o main.o && ar rcs libmain.a main.o &&
		gcc -o main libmain.a && ./main
	gdb -q -batch -ex 'break twice' -ex run -ex 'print a' -ex kill ./main 2>&1 |
		grep '^\$'
	(exec 3<main && rm main && /proc/self/fd/3)
}

# Programs that wait: for locks, at a socket, for a growing file, at a FIFO.
app_waiting() {
	local n line

	echo 0 >count && for n in {1..10}; do
		flock lock sh -c 'read n <count; echo $((n + 1)) >count' &
	done
	wait && cat count
	python3 -c 'import socket
s, c = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
s.bind("here"), s.listen(1), c.connect("here")
s.accept()[0].send(b"heard"), print(c.recv(5).decode())'
	mkfifo pipe && touch grows && { timeout 60 tail -s 0.1 -n +1 -f grows >pipe & }
	exec 3<pipe
	for n in {1..5}; do
		echo $n >>grows && read -r line <&3 && echo "line $line"
	done
	kill $!
}

# app FOLDER NAME: runs the program in FOLDER and prints its output.
app() {
	mkdir -p "$1/$2"
	(cd "$1/$2" && "app_$2") 2>&1 | sed "s,$1,HERE,g"
}
# say_all FOLDER FILE NAME...: runs all concurrently; each writes to FILE.NAME.
say_all() {
	local folder=$1 file=$2 name pids=()

	shift 2
	for name; do
		app "$folder" "$name" >"$file.$name" &
		pids+=($!)
	done
	wait "${pids[@]}"
}
# elsewhere NAME...: records the outputs in an ordinary folder.
elsewhere() { say_all "$tmp/local" "$tmp/want" "$@"; }
# as_elsewhere FOLDER NAME...: checks that the outputs in FOLDER are the same.
as_elsewhere() {
	local folder=$1 name

	say_all "$folder" "$tmp/have" "${@:2}"
	for name in "${@:2}"; do
		diff "$tmp/want.$name" "$tmp/have.$name" ||
			fail "$name in $folder: not as elsewhere"
	done
}
