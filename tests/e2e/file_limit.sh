#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A limit on the size of files (ulimit -f) does not kill a program because of memory that the
# library shares with servers: the library uses another transport. The limit applies to the
# program's writes.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"
requires tcp

# limited KIB COMMAND...: runs the command with this limit
limited() { (ulimit -f "$1" && exec "${@:2}"); }
# the program sets its own limit, so that no limit applies to the shell
past_limit() {
	past python3 - "$1" <<-'END'
		import os, resource, signal, sys, time

		came = []
		signal.signal(signal.SIGXFSZ, lambda *a: came.append(1))
		resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
		fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
		print(os.pwrite(fd, b"x" * 3000, 9000), len(came))
		try:
		    os.pwrite(fd, b"x", 10000)
		except OSError as e:
		    time.sleep(0)
		    print(e.strerror, len(came), os.fstat(fd).st_size)
	END
}

start_pvfs -n 2 --transport pvfs
echo hello >"$tmp/hello"
must pvfs-cp -q "$tmp/hello" /pvfs/hello
for limit in 0 8; do
	expect hello limited $limit pvfs-ls /pvfs
	PVFS_LOG=info limited $limit pvfs-ls /pvfs 2>&1 | grep -q "over tcp.*ulimit -f" ||
		fail "nobody says why it is tcp"
done

# the mount serves all users, whatever limit its starter had
ulimit -Sf 8
mount_at "$tmp/m" -o cache=none
ulimit -Sf unlimited
must dd if=/dev/zero of="$tmp/m/large" bs=64k count=4 status=none
expect 262144 stat -c %s "$tmp/m/large"
expect "1000 0
File too large 1 10000" past_limit "$tmp/m/f"
for way in limited "past limited"; do
	must $way 16 dd if=/dev/zero of="$tmp/m/small" bs=4k count=3 status=none
done
grep -q ":\(dd\|python3\)): opens session" "$(log_of mgr)" || fail "nothing went past the mount"
unmount "$tmp/m" $daemon
