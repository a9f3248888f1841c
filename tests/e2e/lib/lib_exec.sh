#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Open files, their offsets, flags and locks survive exec(), in the same process or in a child, and
# no session ends because of it.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

# a lock that the next program does not take over would stay for longer than this test
start_pvfs -n 3 --set mgr.session_timeout=600
expect ok pvio mkdir /pvfs/exec
for what in chain locks ends child fails orphan between threads waits; do
	say "$what"
	must lib_exec $what /pvfs/exec
done
must lib_exec again /pvfs/exec 20 -1 0

# the manager was down during the exec()
export READY=$tmp/ready GO=$tmp/go
lib_exec restart /pvfs/exec &
helpers+=($!)
until_true 60 test -e "$READY"
must cluster kill-mgr
must cluster start-mgr
touch "$GO"
must wait "${helpers[-1]}"

must cluster stop
sed -i 's/^session_timeout = .*/session_timeout = 2/' "$state/pvfs.conf"
must cluster start
must lib_exec idle /pvfs/exec
grep -iE 'protocol error|without a connection' "$state"/log/*.log &&
	fail "the servers missed somebody"
exit 0
