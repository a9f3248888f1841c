#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Data that bypasses the mount always belongs to the file that the descriptor's number has at that
# moment, with the rights and the offset of that descriptor.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
mount_at "$tmp/m" -o cache=none
cp "$e2e/preload_identity.py" "$tmp/identity.py"
expect "all of it" past python3 "$tmp/identity.py" "$tmp/m" "$tmp"
PVFS_LOG=info expect "all of it" past timeout 120 pvpast "$tmp/m"
grep -q "calls went past the mount" "$tmp/stderr" ||
	fail "a first call from a child of vfork() keeps its parent on the mount"
# a user who may not open the file inherits the descriptor from a user who may
chmod 755 "$tmp"
mkdir -p "$tmp/public" && cp "$preload" "$tmp/public"
printf secret >"$tmp/m/secret" && chmod 600 "$tmp/m/secret"
inherited() {
	exec 6<>"$tmp/m/secret"
	past setpriv --reuid=1234 --regid=1234 --clear-groups perl -e '
open F, "+<&=6"; sysread F, $a, 2; sysread F, $b, 9; sysseek F, 0, 0;
print "$a $b ", syswrite(F, "S"), sysread(F, $a, 3), " $a\n";
open G, "'"$tmp/m/secret"'" or print "not by name\n"'
	cat "$tmp/m/secret"
	exec 6>&-
}
preload=$tmp/public/libpvfs-preload.so
expect "se cret 13 ecr
not by name
Secret" inherited
grep -Eq "perl\): (opens|resumes) session .*, uid 1234" "$(log_of mgr)" ||
	fail "user 1234 did not go past the mount"
# open files are released, although libc closed them unseen and no call was made since
count=$(objects)
exec 7< <(past python3 -c '
import os, sys, ctypes
libc = ctypes.CDLL(None)
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
os.pwrite(fd, b"x" * 300000, 0)
os.unlink(sys.argv[1])
libc.syscall(3, fd)
print("closed", flush=True)
sys.stdin.read()' "$tmp/m/gone" < <(sleep 100 & echo $! >"$tmp/sleeper"; wait))
read -r -u 7 line
[ "$line" = closed ] || fail "'$line'"
given_back() { [ "$(objects)" -le "$count" ]; }
until_true 60 given_back
kill "$(cat "$tmp/sleeper")"
exec 7<&-
unmount "$tmp/m" $daemon
