#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pvfs-mkdir -m, pvfs-chmod and pvfs-chown set the same modes and owners as mkdir -m, chmod and
# chown in an ordinary directory.
. "$(dirname "$0")/functions.sh"

requires root
start_pvfs -n 2
here=$tmp/here
mkdir "$here"
umask 027
names=(dir dir/sub dir/file dir/link file)

# tree COMMAND DIR: prints mode, uid and gid of each name
tree() {
	local name
	for name in "${names[@]}"; do echo "$name $("$1" "$2/$name")"; done
}
of_pvfs() { pvio stat "$1" | head -n 1 | cut -d' ' -f1,3,4; }
of_here() {
	# shellcheck disable=SC2046
	set -- $(stat -c '0x%f %u %g' "$1")
	printf '%o %s %s\n' "$1" "$2" "$3"
}

# both TOOL ARG...: @ stands for the directory
both() {
	local tool=$1 theirs=0 ours=0
	shift

	"$tool" "${@//@/"$here"}" 2>"$tmp/theirs" || theirs=$?
	"pvfs-$tool" "${@//@//pvfs}" 2>"$tmp/ours" || ours=$?
	[ $((theirs > 0)) = $((ours > 0)) ] ||
		fail "$tool $*: $theirs, ours $ours: $(cat "$tmp/theirs" "$tmp/ours")"
	diff <(tree of_here "$here") <(tree of_pvfs /pvfs) ||
		fail "$tool $*: the ordinary one (<) and ours (>)"
}

mkdir "$here/dir" "$here/dir/sub"
touch "$here/dir/file" "$here/file"
ln -s ../file "$here/dir/link"
must pvfs-cp -a "$here/dir" "$here/file" /pvfs

for mode in 755 0 1777 2770 0755 00755 4711 u=rwx,go= a-x +x -x +w g+s g-s u+s \
		a=rwx go-w,u+t +t -t o=g g=u-w ug=rw,o+r = =r u=rwX; do
	both chmod -- $mode @/dir
	both chmod -- $mode @/file
done
both chmod 00755 @/dir
for mode in g+rwX,o= u=rwx,g=rX 2755 700 a+r; do
	both chmod -R $mode @/dir
	both chmod -R $mode @/dir/file
done
both chmod 640 @/dir/link
for mode in 8 999 17777 u+ u+y x rwx u=rwx, '' ,; do
	case $mode in u+) continue ;; esac
	both chmod "$mode" @/dir
done
both chmod 755 @/nothing

for owner in 1001 :1002 1003:1004 root root: root:daemon : daemon:; do
	both chown "$owner" @/dir
	both chown "$owner" @/dir/link
	both chown -h "$owner" @/dir/link
	both chown -R "$owner" @/dir
done
for owner in nobody-of-that-name :nor-group 4294967296 1x; do
	both chown "$owner" @/dir
done

both chmod 00755 @/dir
for mode in 1777 2770 700 777 u=rwx,go=rx g+s +w a=; do
	names=("dir/$mode")
	both mkdir -m "$mode" "@/dir/$mode"
	names+=("dir/p$mode" "dir/p$mode/below")
	both mkdir -p -m "$mode" "@/dir/p$mode/below"
	both mkdir -p -m 700 "@/dir/$mode"
done
both chmod 2755 @/dir
names=(dir/inherits)
both mkdir -m 777 @/dir/inherits
both mkdir @/dir/inherits/too
must_fail pvfs-mkdir -m 999 /pvfs/bad
grep -q -- "-m 999: want a mode" "$tmp/output" || fail "$(cat "$tmp/output")"

# pvfs-ls names owners as ls does, and prints the number of an owner without a name
both chown 0:54321 @/dir
both chown 54321:0 @/file
owners() { "$1" "$2" -d "$3/dir" "$3/file" | awk '{ print $3, $4 }'; }
for option in -l -n; do
	diff <(owners ls $option "$here") <(owners pvfs-ls $option /pvfs) ||
		fail "pvfs-ls $option: ls (<) and ours (>)"
done
