#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Threads that are cancelled leave no state in the library for which others would wait.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2
# without it, the sanitizer rejects accesses to the stack of a cancelled thread
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:use_sigaltstack=0
expect ok lib_cancel /pvfs
expect ok lib_cancel /pvfs first
