/* SPDX-License-Identifier: BSD-2-Clause */
/* mount_ops.c - MOUNT, STATFS and PING: the properties and the state of the file system. */
#include <errno.h>
#include <string.h>

#include "common/util/disk_space.h"
#include "mgr/op/mgr_ops.h"

/* Writes all addresses to buf, each followed by a NUL.  -EMSGSIZE: too many for a message. */
static int list_iods(const struct mgr *mgr, char *buf, size_t cap, size_t *len)
{
	char uri[ADDR_STRLEN];
	size_t at = 0, n;

	for (uint32_t i = 0; i < mgr->conf.niods; i++) {
		addr_format(&mgr->conf.iod[i], uri, sizeof(uri));
		n = strlen(uri) + 1;
		if (n > cap - at)
			return -EMSGSIZE;
		memcpy(buf + at, uri, n);
		at += n;
	}
	*len = at;
	return 0;
}

int op_mount(struct mgr_op *op)
{
	struct mgr *mgr = op->mgr;
	char uris[WIRE_URIS_MAX];
	struct wire_mount_rep rep;
	size_t len;
	int rc;

	rc = list_iods(mgr, uris, sizeof(uris), &len);
	if (rc)
		return rc;
	rep = (struct wire_mount_rep){
		.fsid = htole64(mgr->conf.fsid),
		.root = handle_to_wire(mgr->st, mgr->ns.root),
		.niods = htole32(mgr->conf.niods),
		.ssize = htole32(mgr->conf.ssize),
		.pcount = htole32(mgr->conf.pcount),
		.uris_len = htole32((uint32_t)len),
	};
	wire_put(op->out, &rep, sizeof(rep));
	wire_put(op->out, uris, len);
	return 0;
}

#define BYTES_PER_INODE 512u /* in all tables together, approximately */

int op_statfs(struct mgr_op *op)
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

int op_ping(struct mgr_op *op)
{
	mgr_put_ping(op->mgr, op->out);
	return 0;
}
