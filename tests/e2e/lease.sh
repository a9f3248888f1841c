#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The link between the manager and an iod is cut; clients still reach both. After the end of its
# lease the iod executes no writes, and reads continue. A dead client's lock and file are released
# no earlier than that. Then the link is restored.
. "$(dirname "$0")/functions.sh"
. "$e2e/hosts.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

make_hosts mgr iod0 iod1 client
configure 'lease = 4' 'session_timeout = 2'
sed 's/timeout=60/timeout=2/' pvfstab >impatient
serve_all

expect ok on client pvio write /pvfs/f 0 1000000 1
expect ok on client pvio write /pvfs/g 0 1000000 1
# another client dies while the manager cannot reach iod 0
mkfifo in
nsenter --net="/run/netns/$net-client" env PATH="$PATH" lib_locks hold /pvfs/l <in >out 2>err &
holder=$!
exec 9>in
until_true 30 grep -q held out

cut mgr iod0
kill -9 $holder
wait $holder 2>/dev/null
exec 9>&-
expect taken on client lib_locks wait /pvfs/l
# after that nothing is written there, and everything can be read
PVFSTAB_FILE=$tmp/impatient \
	expect ETIMEDOUT on client pvio write /pvfs/f 0 1000000 2
grep -q 'the manager was not heard' "$(log_of iod0)" || fail "no word of it"
expect ok on client pvio check /pvfs/g 0 1000000 1

# a write that waits is executed when the link is restored
on client pvio write /pvfs/f 0 1000000 3 >wrote 2>&1 & writer=$!
helpers+=($writer)
heal mgr iod0
must wait $writer
expect ok on client pvio check /pvfs/f 0 1000000 3
until_true 30 grep -q 'the manager is heard again' "$(log_of iod0)"
