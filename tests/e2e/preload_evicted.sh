#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The own session of a program is evicted after the program wrote in bypass of the mount without a
# flush. The program continues through the mount, and its next fsync reports once that the result of
# these writes is unknown.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

cat >work.py <<-'END'
	import errno, os, sys
	def sync(fd):
	    try:
	        os.fsync(fd)
	        return "ok"
	    except OSError as e:
	        return errno.errorcode[e.errno]
	fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
	os.pwrite(fd, b"a" * 4096, 0)
	if sys.argv[2] == "flushed":
	    os.fsync(fd)
	print("written", flush=True)
	sys.stdin.readline()
	try:
	    os.pwrite(fd, b"b" * 4096, 4096)
	except ConnectionAbortedError: # it was on its way
	    os.pwrite(fd, b"b" * 4096, 4096)
	print(sync(fd), sync(fd), flush=True)
END

start_pvfs -n 2
mount_at "$tmp/m" -o cache=none
mkfifo go
its_session() { pvfs-evict --list /pvfs | awk '$NF ~ /python/ { print $1 }'; }
for how in flushed not; do
	past python3 work.py "$tmp/m/$how" $how <go >$how.out 2>$how.err & helpers+=($!)
	exec {go}>go
	until_true 60 grep -q written $how.out
	must pvfs-evict -s "$(its_session)" /pvfs
	echo >&"$go"
	exec {go}>&-
	wait ${helpers[-1]} || fail "$how: $(<$how.err)"
	if [ $how = flushed ]; then want="ok ok"; else want="ESTALE ok"; fi
	expect "$want" tail -n 1 $how.out
	expect "4096 a 4096 b" eval "fold -w 1 '$tmp/m/$how' | uniq -c | tr -s '[:space:]' ' ' |
		sed 's/^ //;s/ $//'"
done
unmount "$tmp/m" $daemon
