#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The result of a write in bypass of the mount is unknown, because its iod ended before the reply.
# The write is not repeated through the mount over data that another client has written and flushed
# meanwhile.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

shim=$PVFS_BUILD/tests/history/history-shim.so
[ -e "$shim" ] || skip "needs the shim of the history test"
[ "$(stat -f -c %T "$tmp")" != tmpfs ] || skip "needs a folder on a disk"
start_pvfs -n 1 --set iod.sync=on
must cluster stop-iod 0
head -c 4096 /dev/zero >"$tmp/shim"
flush_takes() { printf '%-20s %-20s %-20s ' "$1" 0 0 1<>"$tmp/shim"; } # ms
flush_takes 0
HISTORY_SHIM=$tmp/shim LD_PRELOAD=$shim ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
	cluster start-iod 0 >"$tmp/out" 2>&1 || fail "$(cat "$tmp/out")"
mount_at "$tmp/m" -o cache=none

cat >"$tmp/write.py" <<-'END'
	import errno, os, sys
	fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o644)
	assert os.pwrite(fd, b"0" * 4096, 0) == 4096
	print("ready", flush=True)
	sys.stdin.read(1)
	try:
	    print("wrote", os.pwrite(fd, b"a" * 4096, 0))
	except OSError as e:
	    print(errno.errorcode[e.errno])
END
mkfifo "$tmp/go"
(past_all; exec python3 "$tmp/write.py" "$tmp/m/f") <"$tmp/go" >"$tmp/said" 2>&1 &
writer=$!
helpers+=($writer)
exec 6>"$tmp/go"
until_true 60 grep -q ready "$tmp/said"

# the write is done and visible, but its reply waits for the disk
flush_takes 600000
echo >&6
is_there() { [ "$(pvfs-cat /pvfs/f | head -c 1)" = a ]; }
until_true 60 is_there
stand_still $writer
must cluster kill-iod 0
must cluster start-iod 0
expect ok pvio write /pvfs/f 1024 1024 7
must kill -CONT $writer
exec 6>&-
wait $writer || fail "the writer: $(cat "$tmp/said")"
expect ok pvio check /pvfs/f 1024 1024 7
expect EIO tail -n 1 "$tmp/said"
unmount "$tmp/m" $daemon
