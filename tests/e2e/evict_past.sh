#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A host is evicted while programs of two users write through its mount. One program bypasses the
# mount with a session of its own. Each gets an error, nothing is written after the reply, flushed
# data is there, and the mount continues.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
requires tcp
requires tool setpriv
[ -x /usr/bin/python3 ] || skip "needs a python3 that all may run"

# Writes lines of 8 bytes, flushes every 16, and prints their number and the error at the end.
cat >work.py <<-'END'
	import errno, os, sys
	fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
	n = 0
	try:
	    while True:
	        for i in range(n, n + 16):
	            os.pwrite(fd, b"%07d\n" % i, 8 * i)
	        os.fsync(fd)
	        n += 16
	        print(n, flush=True)
	except OSError as e:
	    print(errno.errorcode[e.errno])
	try:
	    os.pwrite(fd, b"-------\n", 8 * (n + 16))
	    os.fsync(fd)
	    print("written")
	except OSError as e:
	    print(errno.errorcode[e.errno])
END

start_pvfs -n 2
chmod 755 "$tmp" "$state" && chmod 644 "$state/pvfstab" work.py
mount_at "$tmp/m" -o cache=none
mkdir -m 1777 "$tmp/m/pub"
other() { setpriv --reuid 1001 --regid 1001 --clear-groups "$@"; }
/usr/bin/python3 work.py "$tmp/m/pub/root" >root 2>root.err & helpers+=($!)
other /usr/bin/python3 work.py "$tmp/m/pub/other" >other 2>other.err & helpers+=($!)
past other /usr/bin/python3 work.py "$tmp/m/pub/past" >past 2>past.err & helpers+=($!)
under_way() { [ "$(wc -l <"$1")" -gt 5 ]; }
for f in root other past; do until_true 60 under_way $f; done

expect "2 sessions evicted" pvfs-evict -H 127.0.0.1 /pvfs
for f in root other past; do must pvfs-cat /pvfs/pub/$f >$f.before; done
over() { [ "$(grep -Ecx 'E[A-Z]+|written' "$1")" = 2 ]; }
for f in root other past; do
	until_true 60 over $f
	tail -n 2 $f | head -n 1 | grep -Eqx 'ESTALE|ECONNABORTED' || fail "$f: $(tail -n 2 $f)"
	# a program that bypasses the mount has two sessions. If its own ends first, it continues
	# through the mount (preload_evicted), until the session of the mount ends, before the reply
	[ "$(tail -n 1 $f)" = ESTALE ] || [ $f = past ] || fail "$f: $(tail -n 2 $f)"
	must pvfs-cat /pvfs/pub/$f >$f.behind
	n=$(tail -n 3 $f | head -n 1)
	seq -f %07.0f 0 $((n - 1)) | cmp - <(head -n "$n" $f.behind) || fail "$f: $n lines were flushed"
done
for f in root other past; do cmp $f.before $f.behind || fail "$f: written after the answer"; done

expect 3 eval 'ls "$tmp/m/pub" | wc -l'
echo new >"$tmp/m/pub/root" || fail "the mount is gone"
expect new cat "$tmp/m/pub/root"
unmount "$tmp/m" $daemon
