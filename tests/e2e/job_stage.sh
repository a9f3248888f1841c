#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Staging preserves data, extended attributes and access control lists. Also: as which user it runs,
# and what happens if the target cannot store the attributes of the source.
. "$(dirname "$0")/functions.sh"
. "$(dirname "$0")/jobbing.sh"

# exits CODE COMMAND...: checks the exit status
exits() {
	local want=$1 have=0

	shift
	"$@" >"$tmp/output" 2>&1 || have=$?
	[ $have = "$want" ] || fail "exit $have: $*: $(cat "$tmp/output")"
}
stage() { timeout 100 pvfs-job "stage-$1" -q -i "$job" --manifest "$tmp/manifest.$1" "${@:2}"; }
says() { grep -q "$1" "$tmp/output" || fail "it does not say '$1': $(cat "$tmp/output")"; }
silent() { [ ! -s "$tmp/output" ] || fail "it says: $(cat "$tmp/output")"; }
# Prints modes, lists and attributes of the files in a tree.
what() { (cd "$1" && find . ! -type l -printf '%m %p\n' | sort && find . ! -type l -print0 | sort -z |
	xargs -0 sh -c 'getfacl -n "$@"; getfattr -d -m "^user\." "$@"' -) 2>/dev/null; }

# ---- extended attributes, and lists ----

begin -n 2
if command -v setfacl >/dev/null && command -v setfattr >/dev/null && mkdir marked &&
	setfacl -m u:1234:r marked 2>/dev/null && setfattr -n user.probe -v 1 marked 2>/dev/null; then
	mkdir marked/dir && echo text | tee marked/list marked/attr marked/closed marked/dir/plain >marked/both
	setfacl -m u:1234:rw,g:1235:r,m:rw marked/list
	setfacl -d -m u:1234:rwx marked/dir
	setfattr -n user.kind -v 'a value' marked/attr
	head -c 3000 /dev/urandom | base64 -w 0 | head -c 3000 >value
	setfattr -n user.long -v "$(cat value)" marked/both
	setfacl -m u:7:r marked/both
	setfattr -n user.kind -v closed marked/closed && chmod 400 marked/closed
	setfattr -n user.dir -v d marked/dir && chmod 555 marked/dir
	exits 0 stage in marked /pvfs/marked
	silent
	exits 0 stage out /pvfs/marked back
	silent
	expect "$(what marked)" what back
	what back | grep -q 'user.long' || fail "nothing was compared"
	# later changes of attributes are copied without the data
	chmod u+w marked/dir
	setfattr -n user.kind -v other marked/attr && setfattr -x user.long marked/both
	setfacl -b marked/list && setfacl -m u:99:rwx marked/dir/plain
	exits 0 stage in marked /pvfs/marked
	exits 0 stage out /pvfs/marked back
	expect "$(what marked)" what back
	# a target that cannot store attributes: one line and no failure; its group gets no more
	# rights than the list gave
	if [ "$(id -u)" = 0 ] && mkdir bare && mount -t ramfs -o mode=755 bare bare; then
		for k in 1 2 3; do cp -a marked/both "marked/more$k" && setfattr -n user.k -v $k "marked/more$k"; done
		setfacl -m u:1234:rwx,g::-,m:rwx marked/more1
		exits 0 stage in marked /pvfs/marked
		exits 0 stage out /pvfs/marked bare/out
		expect 1 grep -c 'access control lists' output
		expect 1 grep -c 'extended attributes' output
		expect 604 stat -c %a bare/out/more1
		umount bare
	fi
	# larger than the attributes of a local file may be
	head -c 5000 /dev/zero | tr '\0' x >value
	if setfattr -n user.huge -v "$(cat value)" marked/attr 2>/dev/null; then
		exits 0 stage in marked /pvfs/marked
		says 'extended attributes'
		expect 'other' eval 'pvfs-job exec -i "$job" pvio getxattr /pvfs/marked/attr user.kind | grep -o other'
	fi
else
	say "without extended attributes: needs acl, attr and a file system that has them"
fi

# ---- a full disk on the way out: missing files are named, and copied the next time ----

if [ "$(id -u)" = 0 ]; then
	rm -f manifest.* && mkdir big && for k in 1 2 3 4; do head -c 700000 /dev/urandom >big/$k; done
	exits 0 stage in big /pvfs/big
	small_disk "$tmp/full" 2
	exits 1 stage out /pvfs/big full/big
	[ "$(grep -c '^ok ' manifest.out)" -le 2 ] || fail "more than there is room for: $(cat manifest.out)"
	grep -qE '(^| )[^ ]+ -> [^ ]+: No space left on device' output || fail "$(cat output)"
	grep -q '^missing .* No space left on device' manifest.out || fail "$(cat manifest.out output)"
	for f in $(sed -n 's/^ok .* \([1-4]\)$/\1/p' manifest.out); do cmp "big/$f" "full/big/$f" || fail "$f is not ok"; done
	mount -o remount,size=8m full
	exits 0 stage out /pvfs/big full/big
	same_tree big full/big
fi

# ---- interrupted: nothing incomplete stays ----

rm -f manifest.* && mkdir long parts && head -c 12000000 /dev/urandom >long/1
for k in 2 3 4 5; do cp long/1 long/$k; done
exits 0 stage in long /pvfs/long
begun() { [ -n "$(ls -A parts/long 2>/dev/null)" ] || ! kill -0 $staging 2>/dev/null; }
code=0
for turn in $(seq 20); do # until one is not complete before its signal
	rm -rf parts/long manifest.out
	env --default-signal timeout 100 pvfs-job stage-out -q -i "$job" --manifest "$tmp/manifest.out" /pvfs/long parts/long >output 2>&1 &
	staging=$!
	until begun; do sleep 0.01; done
	kill -TERM $staging 2>/dev/null
	wait $staging || code=$?
	[ $code = 0 ] || break
done
[ $code = 143 ] || [ $code = 124 ] || fail "exit $code: $(cat output)"
says interrupted
# copiers on other nodes remove their files a moment later
all_removed() { [ -z "$(find parts/long -name '*.pvfs-cp.*')" ]; }
until_true 20 all_removed
grep -q '^missing ' manifest.out || fail "$(cat manifest.out output)"
exits 0 stage out /pvfs/long parts/long
same_tree long parts/long

must pvfs-job stop -i "$job"
gone
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || { say "as one user alone: needs root"; exit 0; }

# ---- as another user ----

# The user can neither give files away nor read all of them. Read-only files are copied.
as() { setpriv --reuid nobody --regid nogroup --clear-groups -- "$@"; }
chmod 755 "$tmp"
mkdir user shared && chown nobody:nogroup user
export PVFS_JOB_DIR=$tmp/user/jobs
log=$tmp/user/log
as mkdir "$log"
as true && as test -x "$PVFS_BUILD/client/tools/pvfs-job" || skip "another user cannot reach $PVFS_BUILD"
mkdir shared/closed && echo mine | tee shared/mine shared/secret >shared/closed/file
marks=$(setfattr -n user.kind -v mine shared/mine 2>/dev/null && echo 'user.kind="mine"')
chmod 444 shared/mine && chmod 600 shared/secret && chmod 555 shared/closed
as pvfs-job start -i "$job" --log "$log" --size 64M -n 2 >start 2>&1 || fail "$(cat start)"
stage() { timeout 100 setpriv --reuid nobody --regid nogroup --clear-groups -- pvfs-job "stage-$1" -q -i "$job" --manifest "$tmp/user/manifest.$1" "${@:2}"; }
exits 1 stage in "$tmp/shared" /pvfs/in
grep -q '^missing secret Permission denied' user/manifest.in || fail "$(cat user/manifest.in output)"
expect 2 grep -c '^ok ' user/manifest.in
exits 0 stage out /pvfs/in "$tmp/user/out"
expect 'nobody nogroup 555 closed
nobody nogroup 444 mine' eval 'cd user/out && stat -c "%U %G %a %n" closed mine'
[ -z "$marks" ] || expect "$marks" eval "getfattr -d user/out/mine 2>/dev/null | grep ^user"
# again: a folder that is read-only by now still gets its files
chmod 755 shared/closed && echo more >shared/closed/more && chmod 555 shared/closed && chmod 644 shared/secret
exits 0 stage in "$tmp/shared" /pvfs/in
exits 0 stage out /pvfs/in "$tmp/user/out"
expect more cat user/out/closed/more
expect 555 stat -c %a user/out/closed
# a target that the user may not write
exits 1 stage out /pvfs/in "$tmp/shared/out"
grep -q '^missing ' user/manifest.out || fail "$(cat user/manifest.out output)"
must as pvfs-job stop -i "$job"
left=$(find "$PVFS_JOB_DIR" -mindepth 1 2>/dev/null)
[ -z "$left" ] || fail "left behind: $left"
