#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A server stays unavailable: a call that needs it fails at its deadline, not earlier, with an errno
# and a line that names the server. Calls that do not need the server work. When it is back, all
# calls work.
. "$(dirname "$0")/functions.sh"

export PVFS_TIMEOUT=3
start_pvfs -n 3
expect ok pvio write /pvfs/all 0 1000000 1
before=$(objects)

# fails WHO COMMAND...: fails with ETIMEDOUT within a bound, and stderr names WHO
fails() {
	local who=$1 since=$SECONDS
	shift

	timeout 60 "$@" >"$tmp/output" 2>"$tmp/stderr"
	[ $? != 124 ] || fail "no end by the deadline: $*"
	grep -qx ETIMEDOUT "$tmp/output" ||
		fail "$*: $(cat "$tmp/output") instead of ETIMEDOUT"
	grep -q "$who" "$tmp/stderr" ||
		fail "$* does not name $who: $(cat "$tmp/stderr")"
	[ $((SECONDS - since)) -ge 2 ] || fail "gave up before the deadline"
}

must pvfs-cp /bin/true /pvfs/file

must cluster kill-iod 1
uri=$(conf_value iod.1 address)
fails "$uri" pvio check /pvfs/all 0 1000000 1
fails "$uri" pvio write /pvfs/all 0 1000000 2
# other stripes, names and attributes do not need iod 1
expect ok pvio mkdir /pvfs/dir
expect ok pvio rename /pvfs/all /pvfs/dir/all
must pvfs-rm /pvfs/file
expect ok pvio mkdir /pvfs/tree
must_fail pvfs-rm /pvfs/tree
must pvfs-rm -r /pvfs/tree
# a new file with a stripe on iod 1
head -c 1000000 /dev/zero >"$tmp/zeros"
must_fail pvfs-cp "$tmp/zeros" /pvfs/new
grep -q "$uri" "$tmp/output" || fail "a new file: $(cat "$tmp/output")"
# a stopped process is like a dead one, and does not delay the others
must cluster start-iod 1
stand_still "$(cluster pid 2)"
fails "$(conf_value iod.2 address)" pvio check /pvfs/dir/all 0 1000000 2
expect ok pvio creat /pvfs/dir/other
expect ok pvio unlink /pvfs/dir/other
kill -CONT "$(cluster pid 2)"
expect ok pvio write /pvfs/dir/all 0 1000000 3
expect ok pvio check /pvfs/dir/all 0 1000000 3

must cluster kill-mgr
fails "$(conf_value mgr address)" pvio mkdir /pvfs/never
must cluster start-mgr
expect ENOENT pvio stat /pvfs/never
expect ok pvio check /pvfs/dir/all 0 1000000 3

# pvfs-ping says which one is down
must cluster kill-iod 0
must_fail pvfs-ping
grep -q "$(conf_value iod.0 address).*down" "$tmp/output" ||
	fail "pvfs-ping: $(cat "$tmp/output")"
