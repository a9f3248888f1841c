#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Asynchronous requests, of each kind, thousands at a time.
. "$(dirname "$0")/../functions.sh"
# this test does not cover access without requests
export PVFS_DIRECT=off
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 4
expect ok pvio mkdir /pvfs/aio
expect ok lib_aio /pvfs/aio "${PVFS_SEED:-7}"
