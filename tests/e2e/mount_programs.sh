#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Ordinary programs on a mounted file system give what they give elsewhere, with
# each kind of cache.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 3
mkdir "$tmp/here"
(cd "$top" && tar cf - docs server common/util) | tar xf - -C "$tmp/here"
ln -s here/docs "$tmp/here/link"
ln "$tmp/here/docs/protocol.md" "$tmp/here/second"
chmod 751 "$tmp/here/docs"

# everything in a folder of its own: the results are text
programs() {
	cp -a "$tmp/here" tree
	tar cf - -C tree . | (mkdir out && tar xf - -C out)
	diff -r --no-dereference tree out
	find tree | LC_ALL=C sort | md5sum
	grep -rl rpc tree | LC_ALL=C sort | md5sum
	stat -c '%n %F %h %a %s' tree/second tree/link tree/docs/protocol.md
	head -c 3000000 /dev/urandom >big
	dd if=big of=copy bs=37k conv=fsync status=none
	cmp big copy && cat big >>copy && stat -c %s copy
	truncate -s 100 copy && cmp -n 100 big copy && stat -c %s copy
	dd if=big of=copy bs=1 seek=5000000 count=3 conv=notrunc status=none
	stat -c %s copy
	mv big tree/docs/moved && mv tree/docs docs2 && ls docs2/moved
	rm tree/link && ls tree
	exec 7<>held && rm held && echo still >&7 && cat /dev/fd/7
	exec 7>&-
	mkdir -p a/b/c && rmdir a/b/c && rmdir a && echo no
	cp /bin/true program && ./program && echo runs
	sed -i s/rpc/RPC/ docs2/protocol.md && grep -c RPC docs2/protocol.md
	touch -d '2001-02-03 04:05:06.789 UTC' old && date -u -r old +%F.%N
	flock old -c 'flock -n old true || echo locked'
	mkfifo pipe && (echo through >pipe &) && cat pipe
	mknod null c 1 3 && stat -c '%F %t %T' null && rm pipe null
	echo 1 >one && echo 2 >two && mv -n one two; cat one two && rm one two
	rm -r tree out docs2 && ls
}
# Not every local file system has these.
attributes() {
	expect "b'value' ['user.a', 'user.long']
exists
No data available" python3 - <<-'END'
	import os
	open("x", "w").close()
	os.setxattr("x", "user.a", b"value")
	os.setxattr("x", "user.long", b"v" * 4000)
	print(os.getxattr("x", "user.a"), sorted(os.listxattr("x")))
	try: os.setxattr("x", "user.a", b"", os.XATTR_CREATE)
	except FileExistsError: print("exists")
	os.removexattr("x", "user.a")
	try: os.getxattr("x", "user.a")
	except OSError as e: print(e.strerror)
	os.remove("x")
	END
}
results() {
	(mkdir -p "$1" && cd "$1" && programs) 2>&1 | sed "s,$1,HERE,"
}

results "$tmp/local" >"$tmp/want"
for cache in none open; do
	mount_at "$tmp/m" -o cache=$cache
	results "$tmp/m/$cache" >"$tmp/have"
	diff "$tmp/want" "$tmp/have" || fail "cache=$cache: not as elsewhere"
	cd "$tmp/m" && attributes && cd "$tmp" || exit 1
	unmount "$tmp/m" $daemon
done
