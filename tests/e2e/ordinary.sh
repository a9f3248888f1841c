# SPDX-License-Identifier: BSD-2-Clause
# ordinary.sh - ordinary programs work in a folder and print their results as text; sourced after
# functions.sh.

mkdir "$tmp/here"
(cd "$top" && tar cf - docs server common/util) | tar xf - -C "$tmp/here"
ln -s here/docs "$tmp/here/link"
ln "$tmp/here/docs/protocol.md" "$tmp/here/second"
chmod 751 "$tmp/here/docs"

# each program in a folder of its own; the results are text
programs() {
	cp -a "$tmp/here" tree
	tar cf - -C tree . | (mkdir out && tar xf - -C out)
	diff -r --no-dereference tree out
	find tree | LC_ALL=C sort | md5sum
	grep -rl rpc tree | LC_ALL=C sort | md5sum
	stat -c '%n %F %h %a %s' tree/second tree/link tree/docs/protocol.md
	head -c 3000000 /dev/urandom >big
	dd if=big of=copy bs=36k conv=fsync status=none
	cmp big copy && cat big >>copy && stat -c %s copy
	truncate -s 100 copy && cmp -n 100 big copy && stat -c %s copy
	echo ab | dd of=copy bs=4k seek=5000000 oflag=seek_bytes conv=notrunc status=none
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
results() {
	(mkdir -p "$1" && cd "$1" && programs) 2>&1 | sed "s,$1,HERE,"
}
