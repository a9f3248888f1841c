/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mknod.c - MKNOD: special files, which only have a name here; each host's kernel
 * serves them.
 */
#include <errno.h>

#include "mgr/ns/ns_int.h"

static bool is_device(uint32_t mode)
{
	return S_ISCHR(mode) || S_ISBLK(mode);
}

int ns_mknod(struct ns_op *op, const struct ns_mknod_args *args,
	     struct inode *ino)
{
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, &args->path, NS_ENTRY, &place);
	if (rc)
		return rc;
	if (place.last != NS_LAST_NAME || place.found)
		return -EEXIST;
	if (place.slash)
		return -ENOENT;
	rc = ns_may_create(op, &place.dir);
	if (rc)
		return rc;
	if (is_device(args->mode) && op->cred->uid != 0)
		return -EPERM;
	rc = ns_inode_new(op, args->mode, &place.dir, ino);
	if (rc)
		return rc;
	if (is_device(args->mode)) {
		ino->base = args->major;
		ino->pcount = args->minor;
	}
	return ns_enter(op, &place, ino);
}
