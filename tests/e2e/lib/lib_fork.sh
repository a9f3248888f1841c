#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A child of fork() uses the parent's open files; the parent loses nothing. Files that a program
# leaves open are closed at its exit.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 4
expect ok pvio mkdir /pvfs/fork
expect ok lib_fork /pvfs/fork
grep -iE 'protocol error|expired|did not come back' "$state"/log/*.log &&
	fail "the servers complain"
exit 0
