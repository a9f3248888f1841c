#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A wait for a lock ends with EINTR, and takes no lock, if a handler without SA_RESTART ran; with
# SA_RESTART it goes on.
. "$(dirname "$0")/../functions.sh"
PATH=$PVFS_BUILD/tests/e2e/lib:$PATH

start_pvfs -n 2
[ "$(lib_eintr /pvfs/file)" = ok ] || fail "lib_eintr failed"
