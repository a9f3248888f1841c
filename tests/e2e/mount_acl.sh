#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Access control lists through the mount, compared with a local file system: setfacl, getfacl and
# the resulting rights of several users; programs that copy them.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

requires tool setpriv
requires tool setfacl
mkdir -p "$tmp/local/probe"
setfacl -m u:1:rwx "$tmp/local/probe" 2>/dev/null ||
	skip "the file system of $tmp has no access control lists"
rmdir "$tmp/local/probe"

start_pvfs -n 2
chmod 755 "$tmp" "$tmp/local"

as() { setpriv --reuid="$1" --regid="$2" "${@:3}"; }
alice() { as 1001 1001 --clear-groups -- "$@"; }
bob() { as 1002 1002 --clear-groups -- "$@"; }
carol() { as 1003 1003 --groups 2000,2001 -- "$@"; }

# Each line has a command and its result.
try() {
	"$@" >"$tmp/out" 2>"$tmp/err"
	echo "$* -> $?: $(sed 's/.*: //' "$tmp/err" | head -n 1)"
}

who_may() {
	local who what

	for who in alice bob carol; do
		for what in "cat $1" "test -w $1" "test -x $1"; do
			try $who $what
		done
	done
}

lists() {
	local f

	for f in "$@"; do
		stat -c '%A %u %g %n' "$f"
		getfacl -n -p "$f" 2>&1
	done
}

files() {
	echo text >f
	chmod 640 f
	chown 1001:1001 f
	who_may f
	for entry in u:1002:rw g:2000:r g:2001:x m:r m:rwx u:1002:- o:r m:-; do
		try alice setfacl -n -m $entry f
		lists f
		who_may f
	done
	for mode in 600 770 2755 0707; do
		try alice chmod $mode f
		lists f
		who_may f
	done
	try bob setfacl -m u:1002:rwx f
	try carol setfacl -b f
	try alice setfacl -d -m u:1002:r f
	mv f g && ln g h
	chown 1002 g
	lists h
	setfacl -b g
	lists h
}

directories() {
	mkdir -m 755 d
	setfacl -d -m u:1002:rwx,g:2000:rx,o:- d
	umask 077
	mkdir d/sub
	echo x >d/sub/f
	mknod d/sub/p p
	ln -s f d/sub/l
	install -m 700 /bin/true d/sub/true
	umask 022
	mkdir d/sub/more
	lists d d/sub d/sub/f d/sub/p d/sub/true d/sub/more
	who_may d/sub/f
	try bob mkdir d/sub/bobs
	try carol mkdir d/sub/carols
	lists d/sub/bobs
	chgrp 2001 d/sub && chmod g+s d/sub
	try bob touch d/sub/of_group
	try bob mkdir d/sub/dir_of_group
	lists d/sub/of_group d/sub/dir_of_group
	setfacl -k d
	mkdir d/plain && echo >d/plain/f
	lists d d/plain d/plain/f
}

copies() {
	mkdir c
	cp -a d c/cp
	mkdir c/tar c/rsync
	tar --acls -C d -cf - . | tar --acls -C c/tar -xf - 2>/dev/null
	rsync -aA d/ c/rsync/
	(cd d && getfacl -n -R . 2>/dev/null) >"$tmp/acls"
	for how in cp tar rsync; do
		(cd c/$how && getfacl -n -R . 2>/dev/null) |
			cmp - "$tmp/acls" || echo "not copied: $how"
	done
}

session() {
	(cd "$1" && umask 022 && files && directories && copies) 2>&1
}

session "$tmp/local" >"$tmp/wanted"
for options in no_default_permissions cache=none cache=open cache=none,entry_timeout=10,attr_timeout=10; do
	mount_at "$tmp/m" -o $options
	mkdir "$tmp/m/t"
	session "$tmp/m/t" >"$tmp/seen"
	diff -u "$tmp/wanted" "$tmp/seen" >"$tmp/diff" ||
		fail "$options: not as local: $(head -n 60 "$tmp/diff")"
	rm -r "$tmp/m/t"
	unmount "$tmp/m" $daemon
done
must grep -q 'user:1002' "$tmp/wanted"
must_fail grep 'not copied' "$tmp/wanted"
