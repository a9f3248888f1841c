#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# POSIX's asynchronous calls: what they do elsewhere they do past the mount, without a
# thread of libc's.
. "$(dirname "$0")/functions.sh"
. "$e2e/mounting.sh"
. "$e2e/preloading.sh"

start_pvfs -n 3
mount_at "$tmp/m" -o cache=none
expect ok timeout 120 pvposixaio "$tmp/elsewhere"
expect ok timeout 120 pvposixaio "$tmp/m/through"
expect ok past timeout 120 pvposixaio "$tmp/m/past" fork
grep -q "pvposixaio): opens session" "$(log_of mgr)" ||
	fail "it did not go past the mount"
unmount "$tmp/m" $daemon
