#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A copy by pvfs-cp is either complete or visibly incomplete. Tested are interrupted copies, files
# with a wrong size, and the attributes that -a preserves, in all directions.
. "$(dirname "$0")/functions.sh"

start_pvfs -n 3
mkdir "$tmp/dir"

# ---- sizes that are wrong ----

for file in /proc/version /proc/sys/kernel/ostype /sys/kernel/mm/transparent_hugepage/enabled \
		/sys/class/net/lo/mtu /proc/self/limits /etc/passwd; do
	[ -r "$file" ] || continue
	must pvfs-cp --verify "$file" /pvfs/special
	# only the start of the line is compared, because some files change
	must cmp <(head -c 5 "$file") <(pvfs-cat /pvfs/special | head -c 5)
	expect "$(wc -c <"$file")" eval "pvfs-cat /pvfs/special | wc -c"
	must pvfs-rm /pvfs/special
	must pvfs-cp "$file" /pvfs/special && must pvfs-rm /pvfs/special
done
expect "$(</proc/sys/kernel/ostype)" pvfs-cat /proc/sys/kernel/ostype
# a growing source is copied up to some line
(for i in $(seq 20000); do echo "line $i"; done >"$tmp/grows") &
grower=$!
until_true 30 test -s "$tmp/grows"
must pvfs-cp "$tmp/grows" /pvfs/grows
wait "$grower"
size=$(pvfs-cat /pvfs/grows | wc -c)
must cmp <(head -c "$size" "$tmp/grows") <(pvfs-cat /pvfs/grows)

# ---- several sources for one target: the first one gets it ----

mkdir "$tmp/made" && cd "$tmp/made" || exit 1
for i in 1 2 3; do
	mkdir -p $i/t/deep
	head -c ${i}000000 /dev/urandom | tee $i/y $i/t/y >$i/t/deep/y
	echo $i | tee $i/t/only$i >$i/t/deep/only$i
done
head -c 140000000 /dev/zero | tr '\0' 3 >>3/y # several threads copy its pieces
mkdir names links && cp 3/y names/a && cp 2/y names/b && cp 1/y names/c
echo before >links/a && ln links/a links/b && ln -s b links/c
mkdir names/d names/e links/d && cp 1/y names/d && cp 2/y names/e && ln -s d links/e
must pvfs-cp -aq 1 2 3 names links /pvfs/
is() { must cmp "$1" <(pvfs-cat "$2"); }
is_either() { pvfs-cat "$3" >is && cmp "$1" is || must cmp "$2" is; }
twice() {
	must_fail pvfs-cp -q "$@" $to/
	grep -q "will not overwrite just-created .* with " "$tmp/output" || fail "$*: $(<"$tmp/output")"
}
for to in /pvfs/made to; do
	[ $to = to ] && from=/pvfs || from=.
	must pvfs-cp -aq $from/links $to
	# sources with the same name
	twice $from/3/y $from/2/y $from/1/y
	is 3/y $to/y
	twice -a $from/1/y $from/2/y
	is 1/y $to/y
	must pvfs-cp -Nq $from/2/y $from/3/y $to/
	must pvfs-cp -q $from/2/y $from/2/y $to/
	is 2/y $to/y
	# several directories with one name
	twice -r $from/3/t $from/2/t $from/1/t
	is 3/t/y $to/t/y
	is 3/t/deep/y $to/t/deep/y
	for i in 1 2 3; do
		is $i/t/only$i $to/t/only$i
		is $i/t/deep/only$i $to/t/deep/only$i
	done
	twice -r $from/2/. $from/3/y
	is 2/y $to/y
	twice -r $from/3/y $from/1/.
	is 3/y $to/y
	is 1/t/y $to/t/y
	# one directory under two names
	twice -r $from/names/d $from/names/e
	is 1/y $to/d/y
	# two sources, and a target under two names
	twice $from/names/a $from/names/b
	is_either names/a names/b $to/a
	twice $from/names/b $from/names/c
	is_either names/b names/c $to/c
	must pvfs-cp -aq $from/names/a $from/names/b $to/
	is names/a $to/a
	is names/b $to/b
done
must_fail pvfs-mv /pvfs/3/y /pvfs/2/y /pvfs/made/
grep -q "will not overwrite just-created /pvfs/made/*y with /pvfs/2/y" "$tmp/output" || fail "$(<"$tmp/output")"
is 3/y /pvfs/made/y
is 2/y /pvfs/2/y
must pvfs-mv /pvfs/2/y /pvfs/made/
is 2/y /pvfs/made/y
cd "$tmp" && rm -r made && must pvfs-rm -r /pvfs/1 /pvfs/2 /pvfs/3 /pvfs/names /pvfs/links /pvfs/made

# ---- interruptions: an iod stands still, so no copy ends before its signal ----

iod=$(cut -d ' ' -f 1 "$state/run/iod0.pid")
head -c 200000000 /dev/zero | tr '\0' x >"$tmp/big"
must pvfs-cp "$tmp/big" /pvfs/big
must pvfs-mkdir /pvfs/to
mkdir "$tmp/to"
names() { pvfs-ls -a /pvfs/to | grep -v '^[.]*$'; }
in_pvfs() { [ -n "$(names)" ]; }
in_local() { [ -n "$(ls -A "$tmp/to")" ]; }
is_empty() { [ ! -s "$tmp/to/there" ]; }
# ended_by SIGNAL STATUS BEGUN [-p] SOURCE TARGET: sends the signal when BEGUN is true
ended_by() {
	local copy code=0

	stand_still "$iod"
	env --default-signal pvfs-cp "${@:4}" 2>"$tmp/said" &
	copy=$!
	until_true 30 "$3"
	kill -"$1" $copy
	kill -CONT "$iod"
	wait $copy || code=$?
	[ $code = "$2" ] || fail "$1: ${*:4} ended with $code: $(<"$tmp/said")"
}
is_said() {
	expect 1 grep -c . "$tmp/said"
	grep -q "interrupted: 0 files copied, $1 that were" "$tmp/said" ||
		fail "$(<"$tmp/said")"
}
for signal in INT:130 TERM:143 HUP:129; do
	ended_by ${signal%:*} ${signal#*:} in_pvfs "$tmp/big" /pvfs/to/new
	is_said 0
	expect "" names
	ended_by ${signal%:*} ${signal#*:} in_local /pvfs/big "$tmp/to/new"
	is_said 0
	expect "" ls -A "$tmp/to"
	# an existing file is written in place, as its other name shows
	echo before >"$tmp/to/there" && ln "$tmp/to/there" "$tmp/other"
	ended_by ${signal%:*} ${signal#*:} is_empty /pvfs/big "$tmp/to/there"
	is_said 1
	expect "" find "$tmp/to/there" -size +199999999c
	expect "" find "$tmp/to/there" -newermt 1970-01-02
	must [ "$tmp/to/there" -ef "$tmp/other" ]
	rm "$tmp/to/there" "$tmp/other"
done
# signals from a closed terminal, a closed pipe, a time limit, and others
ulimit -c 0
for signal in QUIT:131 PIPE:141 XCPU:152 USR1:138 ALRM:142; do
	ended_by ${signal%:*} ${signal#*:} in_pvfs "$tmp/big" /pvfs/to/new
	is_said 0
	expect "" names
done
# two signals at the same time, as from timeout(1), count as one
stand_still "$iod"
code=0
env --default-signal timeout 3 pvfs-cp "$tmp/big" /pvfs/to/new 2>"$tmp/said" &
copy=$!
until_true 30 in_pvfs
sleep 3
kill -CONT "$iod"
wait $copy || code=$?
[ $code = 124 ] || fail "timeout: $code: $(<"$tmp/said")"
is_said 0
expect "" names
# sources without data: a silent device, and a FIFO without a writer
mkfifo "$tmp/fifo"
for source in "$tmp/fifo" /proc/kmsg; do
	[ -r "$source" ] || continue
	env --default-signal pvfs-cp -q "$source" /pvfs/to/new 2>"$tmp/said" &
	copy=$! code=0
	sleep 1
	kill -0 $copy 2>/dev/null || continue # there is no such source here
	kill -INT $copy
	until_true 30 eval "! kill -0 $copy 2>/dev/null"
	wait $copy || code=$?
	[ $code = 130 ] || fail "$source: ended with $code: $(<"$tmp/said")"
	is_said 0
	expect "" names
done
# the target has its old mode again
echo before >"$tmp/to/there" && chmod 664 "$tmp/to/there"
ended_by INT 130 is_empty -p /pvfs/big "$tmp/to/there"
expect "664 0" stat -c "%a %s" "$tmp/to/there"
rm "$tmp/to/there"
# after SIGKILL no file has the target's name
ended_by KILL 137 in_pvfs "$tmp/big" /pvfs/to/new
expect "" eval "names | grep -x new"
must pvfs-rm -r /pvfs/to
ended_by KILL 137 in_local /pvfs/big "$tmp/to/new"
must [ ! -e "$tmp/to/new" ]
rm -r "$tmp/to" && mkdir "$tmp/to"
echo before >"$tmp/to/there"
ended_by KILL 137 is_empty /pvfs/big "$tmp/to/there"
expect "" find "$tmp/to/there" -size +199999999c
must pvfs-cp /pvfs/big "$tmp/to/there"
must cmp "$tmp/big" "$tmp/to/there"
# a full disk
if [ "$(id -u)" = 0 ]; then
	small_disk "$tmp/full" 100
	must_fail pvfs-cp /pvfs/big "$tmp/full/new"
	grep -q "No space left" "$tmp/output" || fail "$(<"$tmp/output")"
	expect "" ls -A "$tmp/full"
	echo before >"$tmp/full/there"
	must_fail pvfs-cp /pvfs/big "$tmp/full/there"
	grep -q "cut to" "$tmp/output" || fail "$(<"$tmp/output")"
	expect "" find "$tmp/full/there" -size +199999999c
fi
# with_error CALL ERROR COMMAND...: the first such call of each thread fails
with_error() {
	strace -f -qq -o "$tmp/calls" -e "inject=$1:error=$2:when=1" "${@:3}"
}
if strace -o "$tmp/calls" true 2>"$tmp/err"; then
	# the error of a failed close does not tell which data is missing
	echo before >"$tmp/to/there" && chmod 664 "$tmp/to/there"
	must_fail with_error close EIO -P "$tmp/to/there" pvfs-cp -p /pvfs/grows "$tmp/to/there"
	expect "664 0 0" stat -c "%a %s %Y" "$tmp/to/there"
	# other names of an existing file are created, although its times differ
	mkdir "$tmp/two" && echo one >"$tmp/two/a" && ln "$tmp/two/a" "$tmp/two/b"
	must pvfs-cp -a "$tmp/two" /pvfs/two
	must_fail with_error utimensat EPERM pvfs-cp -a /pvfs/two "$tmp/to/two"
	must [ "$tmp/to/two/a" -ef "$tmp/to/two/b" ]
	must pvfs-rm -r /pvfs/two && rm -r "$tmp/two"
else
	say "without failing calls: no strace: $(<"$tmp/err")"
fi
rm -rf "$tmp/big" "$tmp/to"

# ---- the attributes that -a preserves ----

command -v setfacl >/dev/null && command -v setfattr >/dev/null ||
	{ say "without lists and attributes: needs acl and attr"; exit 0; }
mkdir "$tmp/from" && cd "$tmp/from" || exit 1
mkdir dir closed && echo text | tee plain dir/list dir/attr closed/in >mode
setfacl -m g::r,u:1234:rw,m:rw dir/list 2>"$tmp/err" &&
	setfattr -n user.kind -v 'a value' dir/attr 2>"$tmp/err" ||
	{ say "without lists and attributes here: $(<"$tmp/err")"; exit 0; }
setfacl -m g::r,u:1234:rw,m:rw mode
setfacl -d -m u:1234:rwx dir
setfattr -n user.dir -v d dir
ln plain hard && ln plain dir/hard && ln -s plain soft && ln -s none dangling
ln soft soft2
mkfifo -m 640 fifo && ln fifo fifo2
truncate -s 3M sparse && echo end >>sparse
chmod 4751 closed/in && chmod 555 closed && chmod 1777 dir
if [ "$(id -u)" = 0 ]; then
	chown -h 7:8 plain soft dir/list closed && mknod device c 1 3
	chmod 4755 plain
	setfattr -h -n trusted.link -v l soft 2>"$tmp/err" || say "links without attributes: $(<"$tmp/err")"
	setfattr -n trusted.kind -v t dir/attr
	setfattr -n security.kind -v s dir/attr
fi
touch -hd '2001-02-03 04:05:06.789 UTC' plain soft dir/list fifo closed dir
cd "$tmp"
what() {
	(cd "$1" && find . -printf '%y %m %U:%G %s %n %l %T@ %P\n' | sed '/^d/s/ [0-9]* [0-9]*  / /' |
		LC_ALL=C sort -k 7 && find . ! -type l -print0 | LC_ALL=C sort -z |
		xargs -0 sh -c 'getfacl -n "$@"; getfattr -d -m "^(user|trusted|security[.]kind)" "$@"' - &&
		getfattr -h -d -m "^trusted[.]" soft) 2>&1 |
		grep -v '^getfacl\|^$'
}
what from >want
grep -q 'user:1234:rw-' want && grep -q 'user.kind' want || fail "nothing to compare"
must pvfs-cp -a --verify from /pvfs/in
must grep -q '^prw-r----- .* fifo$' <(pvfs-ls -l /pvfs/in)
[ ! -e from/device ] || must grep -q '^crw.* device$' <(pvfs-ls -l /pvfs/in)
must pvfs-cp -a --verify /pvfs/in /pvfs/within
must pvfs-cp -a --verify /pvfs/within back
what back >have
diff want have || fail "-a has not kept it"
must [ back/plain -ef back/dir/hard ]
must diff -r --no-dereference from/dir back/dir
# a second copy over the first
must pvfs-cp -a from/. /pvfs/in
must pvfs-cp -a /pvfs/in/. back
what back >have
diff want have || fail "-a onto what is there has not kept it"
must pvfs-cp -aN from/. /pvfs/in
must pvfs-cp -aN /pvfs/in/. back
# names that are no longer links of one file
mkdir two && echo one >two/a && ln two/a two/b
must pvfs-cp -a two /pvfs/two
must pvfs-cp -a /pvfs/two two.back
rm two/b && echo other >two/b
must pvfs-cp -a two/. /pvfs/two
must pvfs-cp -a /pvfs/two/. two.back
must diff -r two two.back
# a symbolic link at either end is followed, and stays
mkdir links && echo before >links/real && ln -s real links/link && ln -s "$tmp/from/mode" to-mode
must pvfs-cp -a links /pvfs/links
[ "$(id -u)" != 0 ] || chown 7:8 from/mode
must pvfs-cp -p to-mode /pvfs/links/link
must pvfs-cp -p /pvfs/links/link links/link
must pvfs-cp -a /pvfs/links links.back
for file in links links.back; do
	expect real readlink "$file/link"
	expect "$(stat -c "%a %u:%g %s %y" from/mode)" stat -c "%a %u:%g %s %y" "$file/real"
	expect "$(getfacl -nc from/mode)" getfacl -nc "$file/real"
done
# if a replacement for a file cannot be created, the file stays
if [ -e from/device ]; then
	echo before >there
	must_fail setpriv --inh-caps=-mknod --bounding-set=-mknod pvfs-cp -r /pvfs/in/device there
	expect before cat there
	must pvfs-cp -r /pvfs/in/device there
	must [ -c there ]
fi
# -p preserves the mode of an access control list
must pvfs-cp -p from/mode /pvfs/mode
must pvfs-cp -p /pvfs/mode mode
expect "$(getfacl -nc from/mode)" getfacl -nc mode
# a security label stays if the source has none, and no other user can copy one
if [ "$(id -u)" = 0 ]; then
	echo text >bare && cp bare labelled && setfattr -n security.kind -v s labelled
	must pvfs-cp -a labelled /pvfs/labelled
	must pvfs-cp -a bare /pvfs/labelled
	must pvfs-cp -a /pvfs/labelled labelled.back
	expect s getfattr --only-values -n security.kind labelled.back
	public pvfs-cp
	mkdir -m 1777 theirs
	as_user 7 8 '' pvfs-cp -a /pvfs/labelled theirs/copy >"$tmp/output" 2>&1 ||
		fail "another user's copy: $(<"$tmp/output")"
	expect '' cat "$tmp/output"
	must_fail getfattr -n security.kind theirs/copy
	rm bare
fi
# attributes that cannot be stored are reported, and nobody gets more rights
if [ "$(id -u)" = 0 ] && mkdir bare && mount -t ramfs -o mode=755 bare bare; then
	mounts+=("$tmp/bare")
	must_fail pvfs-cp -a /pvfs/in bare/out
	grep -q "dir/list: the access control list is not kept" "$tmp/output" || fail "$(<"$tmp/output")"
	grep -q "dir/attr: an extended attribute is not kept" "$tmp/output" || fail "$(<"$tmp/output")"
	expect 644 stat -c %a bare/out/dir/list
	must cmp from/plain bare/out/plain
fi
