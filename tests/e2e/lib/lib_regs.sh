#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What lists register: once an allocation or a group of neighbours, or each
# piece (PVFS over InfiniBand, ICPP 2003, section 5: 768 pieces).
. "$(dirname "$0")/../functions.sh"

export PVFS_LIST_PLACE=1024
for transport in tcp local; do
	start_pvfs -n 3 --transport $transport
	must "$PVFS_BUILD/tests/e2e/lib/list_regs" /pvfs/file
	must "$PVFS_BUILD/tests/e2e/lib/list_regs" /pvfs/file alone
	state=$tmp/next
done
