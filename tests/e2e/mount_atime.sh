#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Access times through a mount change as on a local file system with relatime; with noatime they do
# not change. Another host sees them when the file is closed.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
small_disk "$tmp/local" 16
must mount -o remount,relatime "$tmp/local"
must python3 "$e2e/mount_atime.py" "$tmp/local" >"$tmp/want"
for cache in none open; do
	mount_at "$tmp/a" -o cache=$cache,attr_timeout=0
	must python3 "$e2e/mount_atime.py" "$tmp/a" >"$tmp/have"
	if ! diff "$tmp/want" "$tmp/have"; then
		fail "cache=$cache: see above"
	fi
	rm "$tmp/a/f"
	unmount "$tmp/a" $daemon
done

atime() { stat -c %X "$1"; }
is_later() { [ "$(atime "$1")" -gt 1000 ]; }
mount_at "$tmp/a"
first=$daemon
mount_at "$tmp/b"
there=$daemon
echo x >"$tmp/a/f"
touch -ad @1000 "$tmp/a/f"
cat "$tmp/a/f" >"$tmp/seen"
must is_later "$tmp/a/f"
until_true 30 is_later "$tmp/b/f"
# a time that was set meanwhile, on either host, is not undone by the close
for by in a b; do
	exec 7<"$tmp/a/f"
	read -r -n 1 -u 7 REPLY
	touch -ad @1000 "$tmp/$by/f"
	exec 7<&-
	unmount "$tmp/a" $first # all is told
	expect 1000 atime "$tmp/b/f"
	mount_at "$tmp/a"
	first=$daemon
done
unmount "$tmp/a" $first
unmount "$tmp/b" $there

for option in noatime ro; do
	mount_at "$tmp/a" -o rw
	touch -ad @1000 "$tmp/a/f"
	unmount "$tmp/a" $daemon
	mount_at "$tmp/a" -o $option
	cat "$tmp/a/f" >"$tmp/seen"
	expect 1000 atime "$tmp/a/f"
	unmount "$tmp/a" $daemon
	mount_at "$tmp/a" -o noatime
	expect 1000 atime "$tmp/a/f"
	unmount "$tmp/a" $daemon
done

# a remount changes what reads do
fresh() { touch -ad @1000 "$tmp/a/f"; }
remount() { must "$PVFS_BUILD/client/fuse/pvfs-fuse" 127.0.0.1:/ "$tmp/a" -o "remount,$1"; }
reads() { cat "$tmp/a/f" >"$tmp/seen" && is_later "$tmp/a/f"; }
mount_at "$tmp/a" -o ro
remount rw
fresh
must reads
for flags in ro,rw noatime,atime noatime,relatime noatime,strictatime; do
	fresh
	remount "${flags%,*}"
	reads && fail "after remount,${flags%,*}, reads change the access time"
	remount "${flags#*,}"
	must reads
done
unmount "$tmp/a" $daemon
