/* SPDX-License-Identifier: BSD-2-Clause */
/* statfs.c - STATFS: only the manager's store; the iods report the space for data. */
#include <errno.h>

#include "common/util/disk_space.h"
#include "mgr/op/ops.h"

#define BYTES_PER_INODE 512u /* in all tables together, approximately */

int op_statfs(struct op *op)
{
	struct mgr *mgr = op->mgr;
	struct wire_statfs_rep rep;
	struct statvfs vfs;
	uint64_t left;

	if (fstatvfs(mgr->dirfd, &vfs))
		return -errno;
	left = disk_space_left(&vfs) / BYTES_PER_INODE;
	rep = (struct wire_statfs_rep){
		.bsize = htole64(vfs.f_frsize),
		.blocks = htole64(vfs.f_blocks),
		.bfree = htole64(vfs.f_bfree),
		.bavail = htole64(vfs.f_bavail),
		.files = htole64(mgr->ns.inodes + left),
		.ffree = htole64(left),
	};
	wire_put(op->out, &rep, sizeof(rep));
	return 0;
}
