#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A call has one deadline, however many requests it takes.  If each request is answered in three
# quarters of that time, a call that takes two has failed, though both are answered.  Nothing is
# measured: slowness only makes more calls fail.
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

# make_slowly PATH SECONDS: in 4, by a process that is connected; what it says.
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

# the proxy is one, and answers come through it
expect ok make_slowly /pvfs/dir/one 0
# the first leads to /pvfs/dir, the second makes it
expect ETIMEDOUT make_slowly /pvfs/link/two 3
