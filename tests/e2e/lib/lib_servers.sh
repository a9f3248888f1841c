#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The calls that describe mounts and servers: all up, one killed, one stopped, no manager.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2
must mkdir "$tmp/out"
expect ok lib_servers up /pvfs "$tmp/out" "$state"
grep -q '"to stderr" is no address' "$tmp/stderr" ||
	fail "nothing on stderr when the program wants no lines any more"
grep -q '"to us"' "$tmp/stderr" && fail "a line of the program's is on stderr"

export PVFS_TIMEOUT=2
iod=$(conf_value iod.1 address)
must cluster kill-iod 1
expect ok lib_servers gone /pvfs "$iod"
must cluster start-iod 1
stand_still "$(cluster pid 1)"
expect ok lib_servers silent "$iod"
kill -CONT "$(cluster pid 1)"
must cluster kill-mgr
expect ok lib_servers alone /pvfs

# the error of the mount is reported, whatever the error of a probe was
echo '127.0.0.1:/ /pvfs pvfs transport=local,fabric=tcp 0 0' >"$tmp/pvfstab"
export PVFSTAB_FILE=$tmp/pvfstab
expect ok lib_servers flaws /pvfs
for scheme in local verbs; do
	[ "$(grep -c "does not allow a $scheme:// address" "$tmp/stderr")" = 1 ] ||
		fail "$scheme: $(cat "$tmp/stderr")"
done
