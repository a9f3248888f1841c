/* SPDX-License-Identifier: BSD-2-Clause */
/* attr.c - an inode as the wire shows it. */
#include "op.h"

static bool size_is_right(const struct inode *ino)
{
	return !S_ISREG(ino->mode) || !(ino->flags & INODE_ASK);
}

void op_fill_attr(const struct op *op, struct wire_attr *attr,
		  const struct inode *ino)
{
	*attr = (struct wire_attr){
		.handle = handle_to_wire(op->mgr->st, ino->handle),
		.size = htole64(ino->size),
		.atime = htole64((uint64_t)ino->atime),
		.mtime = htole64((uint64_t)ino->mtime),
		.ctime = htole64((uint64_t)ino->ctime),
		.mode = htole32(ino->mode),
		.nlink = htole32(ino->nlink),
		.uid = htole32(ino->uid),
		.gid = htole32(ino->gid),
		.flags = htole32((size_is_right(ino) ? WIRE_A_SIZE : 0) |
				 (ino->mset ? WIRE_A_MSET : 0)),
		.dist = { .base = htole32(ino->base),
			  .pcount = htole32(ino->pcount),
			  .ssize = htole32(ino->ssize) },
	};
}

int op_put_attr(struct op *op, const struct inode *ino)
{
	struct wire_attr_rep rep;

	op_fill_attr(op, &rep.attr, ino);
	wire_put(op->out, &rep, sizeof(rep));
	return 0;
}
