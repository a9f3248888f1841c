/* SPDX-License-Identifier: BSD-2-Clause */
/* show.c - the form of an inode on the wire. */
#include "mgr/ns/acl_row.h"
#include "mgr/ns/ns_int.h"

static uint32_t lacks(const struct ns_op *op, const struct inode *ino)
{
	bool none = !acl_there(ino, ACL_OF_ACCESS) &&
		    !acl_there(ino, ACL_OF_CHILDREN);

	if (!(op->features & WIRE_FT_LACKS))
		return 0;
	return (none ? WIRE_A_NOACL : 0) |
	       (ino->flags & INODE_XATTR ? 0 : WIRE_A_NOXATTR);
}

static bool sole(const struct ns_op *op, const struct inode *ino)
{
	return op->features & WIRE_FT_SOLE && size_is_sole(ino, op->session);
}

static uint32_t flags_of(const struct ns_op *op, const struct inode *ino)
{
	bool known = !S_ISREG(ino->mode) || !(ino->flags & INODE_ASK);

	return (known ? WIRE_A_SIZE : 0) | (ino->mset ? WIRE_A_MSET : 0) |
	       (ino->flags & INODE_HOLES ? WIRE_A_HOLES : 0) | lacks(op, ino) |
	       (sole(op, ino) ? WIRE_A_SOLE : 0);
}

/* The highest released end is the size only if the client is the sole writer. */
static uint64_t size_of(const struct ns_op *op, const struct inode *ino)
{
	return sole(op, ino) && ino->end > ino->size ? ino->end : ino->size;
}

void ns_show(const struct ns_op *op, const struct inode *ino,
	     struct wire_attr *attr)
{
	*attr = (struct wire_attr){
		.handle = handle_to_wire(op->ns->st, ino->handle),
		.size = htole64(size_of(op, ino)),
		.atime = htole64((uint64_t)ino->atime),
		.mtime = htole64((uint64_t)ino->mtime),
		.ctime = htole64((uint64_t)ino->ctime),
		.mode = htole32(ino->mode),
		.nlink = htole32(ino->nlink),
		.uid = htole32(ino->uid),
		.gid = htole32(ino->gid),
		.flags = htole32(flags_of(op, ino)),
		.dist = { .base = htole32(ino->base),
			  .pcount = htole32(ino->pcount),
			  .ssize = htole32(ino->ssize) },
	};
}
