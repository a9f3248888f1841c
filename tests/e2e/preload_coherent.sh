#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Random operations, with a model, over two mounts, through them and in bypass of them concurrently,
# with mappings: each program sees the data of the others.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
mount_at "$tmp/a" -o cache=none
first=$daemon
mount_at "$tmp/b" -o cache=none
exercise() {
	local flags=$1 k pids=()

	for k in 1 2 3; do
		past pvexer $flags $((RANDOM + k)) 700 "$tmp/a/f$k" "$tmp/b/f$k" &
		pids+=($!)
	done
	for k in "${pids[@]}"; do wait "$k" || fail "see above"; done
	rm "$tmp"/a/f?
}
exercise ''
grep -q "pvexer): opens session" "$(log_of mgr)" ||
	fail "nothing went past the mounts"
if maps_shared; then
	exercise '-r -m'
	must past pvexer -m 7 700 "$tmp/a/mapped"
	rm "$tmp/a/mapped"
fi
# two processes use one file: one bypasses the mount, and the other maps the file
must past python3 "$e2e/preload_mapped.py" "$tmp/a/two"
# data that the kernel moves by itself is the written data
must past python3 "$e2e/preload_sent.py" "$tmp/a/sent"
# calls on a locked file go through the mount, and bypass it again after the close
exec 8<>"$tmp/a/locked"
must flock -x 8
echo "under a lock" >&8
expect "under a lock" past cat "$tmp/a/locked"
exec 8>&-
# the daemon tells programs the address of the page that it shares with them
page=$(python3 - "$tmp/b/locked" <<-'END'
	import fcntl, os, sys
	where = bytearray(256)
	fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8100f560, where)
	print(where.split(b"\0")[0].decode())
	END
)
[ -e "$page" ] || fail "a page that programs share: '$page'"
unmount "$tmp/a" $first
unmount "$tmp/b" $daemon
[ ! -e "$page" ] || fail "$page was left behind"
