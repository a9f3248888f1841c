#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls on an open object without names have the same results as on a local disk, also for FIFOs,
# devices, sockets and descriptors with O_PATH. The daemon keeps nothing of the object after the
# program has closed it.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"

start_pvfs -n 2
for cache in none open; do
	mount_at "$tmp/$cache" -o cache=$cache
	must python3 "$e2e/mount_removed.py" "$tmp/$cache"
	expect '' ls -A "$tmp/$cache"
	unmount "$tmp/$cache" $daemon
done

# Two hosts: one removes files that the other one uses; then both remove one tree concurrently.
for cache in none open; do
	mount_at "$tmp/a" -o cache=$cache
	first=$daemon
	mount_at "$tmp/b" -o cache=$cache
	must python3 "$e2e/mount_two_rm.py" "$tmp"/{a,b}
	for turn in 1 2 3; do
		mkdir -p "$tmp/a/tree/"{1,2,3,4,5,6}/{7,8,9,10}
		touch "$tmp/a/tree/"{1,2,3,4,5,6}/{7,8,9,10}/{x,y,z}
		rm -rf "$tmp/a/tree" &
		must rm -rf "$tmp/b/tree"
		must wait $!
	done
	unmount "$tmp/a" $first
	unmount "$tmp/b" $daemon
done

# A truncation by a cached name applies to the file that has this name now.
mount_at "$tmp/a" -o cache=open
first=$daemon
mount_at "$tmp/b" -o cache=open,entry_timeout=60
must python3 - "$tmp"/{a,b} <<-'END'
	import os, sys
	a, b = sys.argv[1:]
	def write(path, text):
	    with open(path, "wb") as f:
	        f.write(text)
	def cut(path):
	    os.truncate(path, 1)
	for n, change, want in (("w", lambda p: write(p, b"third"), b"third"), ("t", cut, b"s")):
	    write(f"{a}/{n}", b"first")
	    os.stat(f"{b}/{n}")
	    first = os.open(f"{a}/{n}", os.O_RDONLY)
	    write(f"{a}/new", b"second")
	    os.rename(f"{a}/new", f"{a}/{n}")
	    change(f"{b}/{n}")
	    now = os.pread(first, 10, 0), open(f"{a}/{n}", "rb").read()
	    if now != (b"first", want):
	        sys.exit(f"{n}: {now}")
	# a truncation by a descriptor applies to the removed file
	os.unlink(f"{a}/w")
	fd = os.open(f"{b}/t", os.O_RDWR)
	os.unlink(f"{a}/t")
	os.truncate(f"/proc/self/fd/{fd}", 3)
	size = os.fstat(fd).st_size
	os.close(os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_TRUNC))
	if (size, os.fstat(fd).st_size) != (3, 0):
	    sys.exit(f"by a descriptor: {size}, {os.fstat(fd).st_size} bytes")
END
unmount "$tmp/a" $first
unmount "$tmp/b" $daemon

# A mount is evicted during a listing: the listing ends with an error, and does not seem complete.
for cache in none open; do
	mount_at "$tmp/$cache" -o cache=$cache
	must python3 - "$tmp/$cache" <<-'END'
		import errno, os, subprocess, sys
		names = {f"{i:0200}" for i in range(800)}
		d = sys.argv[1] + "/large"
		os.mkdir(d)
		for n in names:
		    os.symlink("x", f"{d}/{n}")
		unread, begun = os.open(d, os.O_RDONLY), os.scandir(d)
		seen = {next(begun).name}
		subprocess.run(["pvfs-evict", "--user", str(os.getuid()), "/pvfs"], check=True)
		for what, listing in (("begun", begun), ("unread", None)):
		    try:
		        n = len(list(listing or os.scandir(unread)))
		        sys.exit(f"{what}: {n} names and no error")
		    except OSError as e:
		        if e.errno != errno.ESTALE:
		            raise
		if set(os.listdir(d)) != names:
		    sys.exit("not all names are listed by an open after the eviction")
		subprocess.run(["rm", "-r", d], check=True)
	END
	unmount "$tmp/$cache" $daemon
done
