#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Two mounts of one file system, as of two hosts: a completed write is visible through the other
# mount immediately, or with cache=open at the next open.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 3
exercise() {
	local flags=$1 k pids=()

	for k in 1 2 3; do
		pvexer $flags $((RANDOM + k)) 700 "$tmp/a/f$k" "$tmp/b/f$k" &
		pids+=($!)
	done
	for k in "${pids[@]}"; do wait "$k" || fail "cache=$cache: see above"; done
	rm "$tmp"/a/f?
}

# Processes of both mounts append records to one file.
appends() { must python3 "$e2e/mount_appends.py" "$1" "$tmp"/{a,b,b}/log; }

cache=none
mount_at "$tmp/a" -o cache=none
first=$daemon
mount_at "$tmp/b" -o cache=none
exercise ''
appends O_WRONLY
if maps_shared; then
	exercise '-r -m'
	must pvexer -m 7 700 "$tmp/a/mapped"
	rm "$tmp/a/mapped"
else
	say "shared mappings with cache=none: not with Linux $(uname -r)"
fi
# names and sizes are visible, too
echo one >"$tmp/a/n" && expect one cat "$tmp/b/n"
echo two >>"$tmp/b/n" && expect 8 stat -c %s "$tmp/a/n"
mv "$tmp/b/n" "$tmp/b/o" && must_fail stat "$tmp/a/n"
expect o ls "$tmp/a"
# a lock on one mount is valid on the other, and ends with its holder
exec 8>>"$tmp/a/o"
must flock -x 8
must_fail flock -n "$tmp/b/o" true
(must flock "$tmp/b/o" true) &
waiter=$!
flock -u 8
must wait $waiter
# a wait ends when its process is killed
must flock -x 8
flock "$tmp/b/o" true &
waiter=$!
sleep 0.3
kill $waiter
wait $waiter
must flock -u 8
exec 8>&-
unmount "$tmp/a" $first
unmount "$tmp/b" $daemon

cache=open
mount_at "$tmp/a" -o cache=open,attr_timeout=0,entry_timeout=0
first=$daemon
mount_at "$tmp/b" -o cache=open,attr_timeout=0,entry_timeout=0
exercise '-r -m'
if maps_shared; then
	appends O_WRONLY
	appends O_RDWR
fi
# a write through a mapping keeps its place, although the descriptor appends
expect "b'Xello' 5" python3 - "$tmp/a/mapped" <<-'END'
	import mmap, os, sys
	fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_APPEND)
	os.write(fd, b"hello")
	m = mmap.mmap(fd, 5)
	m[0:1] = b"X"
	m.flush()
	m.close()
	print(os.pread(fd, 10, 0), os.fstat(fd).st_size)
END
unmount "$tmp/a" $first
unmount "$tmp/b" $daemon

# An open finds the current size, however old cached attributes may be.
mount_at "$tmp/a" -o cache=open,attr_timeout=3600,entry_timeout=3600
first=$daemon
mount_at "$tmp/b" -o cache=open
echo one >"$tmp/b/long" && expect 4 stat -c %s "$tmp/a/long"
echo two >>"$tmp/b/long" && expect 'one two' echo $(cat "$tmp/a/long")
expect 8 stat -c %s "$tmp/a/long"
truncate -s 2 "$tmp/b/long" && expect "2 b'on'" python3 -c '
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
print(os.lseek(fd, 0, os.SEEK_END), os.pread(fd, 10, 0))' "$tmp/a/long"
unmount "$tmp/a" $first
unmount "$tmp/b" $daemon

# A missing name is cached like names: a file created here is visible immediately, and one created
# by others after the timeout.
mgr() { pvfs-ping | awk '$1 == "mgr" && $3 == "up" { print $8 }'; }
asks() { # COMMAND...: how many requests that is, and a ping
	local before

	before=$(mgr)
	"$@" >/dev/null 2>&1
	echo $(($(mgr) - before))
}
absent() { python3 -c '
import os, sys
sys.exit(any(os.path.exists(sys.argv[1] + "/" + n) for n in "abcdef" * 10))' "$1"; }
mount_at "$tmp/a" -o cache=open,entry_timeout=3600
first=$daemon
mount_at "$tmp/b" -o cache=open
mkdir "$tmp/a/n"
must absent "$tmp/a/n"
ping=$(asks true)
took=$(asks absent "$tmp/a/n")
[ $((took - ping)) -le 10 ] || fail "$took requests for names that are not there"
echo one >"$tmp/a/n/a" && expect one cat "$tmp/a/n/a"
must mkdir "$tmp/a/n/b" && must test -d "$tmp/a/n/b"
must mv "$tmp/a/n/a" "$tmp/a/n/c" && expect one cat "$tmp/a/n/c"
must ln -s c "$tmp/a/n/d" && expect one cat "$tmp/a/n/d"
must ln "$tmp/a/n/c" "$tmp/a/n/a" && expect one cat "$tmp/a/n/a"
must rm "$tmp/a/n/a" && must_fail stat "$tmp/a/n/a"
must_fail stat "$tmp/b/n/e"
must_fail stat "$tmp/b/n/f"
echo two >"$tmp/a/n/e" && until_true 30 test -e "$tmp/b/n/e"
expect two cat "$tmp/b/n/e"
# ... and the host that creates it finds it
echo three >"$tmp/b/n/f"
must_fail mkdir "$tmp/a/n/f"
must_fail bash -c "set -C; : >'$tmp/a/n/f'"
echo four >>"$tmp/a/n/f" && expect 'three four' echo $(cat "$tmp/b/n/f")
unmount "$tmp/a" $first
unmount "$tmp/b" $daemon
