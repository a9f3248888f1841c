/* SPDX-License-Identifier: BSD-2-Clause */
/* getattr.c - GETATTR and ACCESS. */
#include <errno.h>
#include <unistd.h>

#include "mgr/ns/ns_int.h"

int ns_getattr(struct ns_op *op, const struct ns_path *path, bool follow,
	       struct inode *ino)
{
	struct ns_place place;
	int rc;

	rc = ns_resolve(op, path, follow ? NS_FOLLOW : 0, &place);
	if (rc)
		return rc;
	if (ns_must_ask(&place.ino) && !op->asked) {
		op->wait = place.ino.handle;
		return NS_ASK;
	}
	if (ns_is_unsure(&place.ino))
		op->unsure = place.ino.handle;
	*ino = place.ino;
	return 0;
}

int ns_access(struct ns_op *op, const struct ns_path *path, uint32_t mask)
{
	struct ns_place place;
	int rc;

	if (mask & ~(uint32_t)(R_OK | W_OK | X_OK))
		return -EINVAL;
	rc = ns_resolve(op, path, NS_FOLLOW, &place);
	return rc ? rc : ns_may(op, &place.ino, mask);
}
