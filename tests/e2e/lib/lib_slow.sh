#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A call has one deadline, however many requests it needs. Each request takes three quarters of the
# time-out, so a call with two requests fails, although both get replies. Nothing is measured: a
# slow machine only makes more calls fail.
. "$(dirname "$0")/../functions.sh"
requires tcp

start_pvfs -n 1
expect ok pvio mkdir /pvfs/dir
expect ok pvio symlink /pvfs/dir /pvfs/link
coproc proxy { exec python3 "$e2e/lib/proxy.py" 127.0.0.1 "$(port_of mgr)"; }
helpers+=($proxy_PID)
read -r port <&"${proxy[0]}"
sed "s/port=[0-9]*/port=$port/" "$PVFSTAB_FILE" >"$tmp/pvfstab"
proxy() { echo "$1" >&"${proxy[1]}"; read -r _ <&"${proxy[0]}"; }

# make_slowly PATH SECONDS: a connected process runs pvio with a time-out of 4 s; prints its output
make_slowly() {
	local maker

	rm -f "$tmp/in"
	mkfifo "$tmp/in"
	PVFSTAB_FILE=$tmp/pvfstab PVFS_TIMEOUT=4 pvio make_later "$1" \
		<"$tmp/in" >"$tmp/made" 2>&1 &
	maker=$!
	helpers+=($maker)
	exec 9>"$tmp/in"
	until_true 60 grep -q holding "$tmp/made"
	proxy "slow $2"
	exec 9>&-
	wait $maker
	proxy pass
	tail -n 1 "$tmp/made"
}

# the proxy works, and replies pass it
expect ok make_slowly /pvfs/dir/one 0
# one request resolves link to /pvfs/dir, and the next one creates the file
expect ETIMEDOUT make_slowly /pvfs/link/two 3
