/* SPDX-License-Identifier: BSD-2-Clause */
/* open.c - OPEN: permission, creation, the open record of a writer. */
#include <errno.h>
#include <unistd.h>

#include "mgr/ns/holds.h"

#define WRITES (WIRE_O_WRITE | WIRE_O_TRUNC)

static int stripes(struct ns *ns, const struct ns_open_args *args,
		   struct inode *ino)
{
	struct dist d = { args->base, args->pcount, args->ssize };
	uint32_t all = ns->pcount ? ns->pcount : ns->niods;

	if (d.base == UINT32_MAX)
		d.base = ns->next_base++ % ns->niods;
	if (d.pcount == UINT32_MAX)
		d.pcount = all < ns->niods ? all : ns->niods;
	if (d.ssize == UINT32_MAX)
		d.ssize = ns->ssize;
	ino->base = d.base;
	ino->pcount = d.pcount;
	ino->ssize = d.ssize;
	return dist_check(&d, ns->niods);
}

static int record(struct ns_op *op, uint32_t flags, const struct inode *ino,
		  uint64_t *open)
{
	struct open_rec rec = { .session = op->session,
				.open = store_new_id(op->ns->st),
				.handle = ino->handle,
				.flags = flags };

	if (!ns_is_owner(op->cred, ino))
		rec.flags |= OPEN_NOT_OWNER;
	*open = rec.open;
	return open_put(op->ns->st, &rec);
}

int ns_record_writer(struct ns_op *op, uint32_t flags, struct inode *ino,
		     uint64_t *open)
{
	bool append = flags & WIRE_O_APPEND;

	/* the set-id bits were granted for content that only the owner wrote */
	if (!ns_is_owner(op->cred, ino))
		ns_lose_suid(op->cred, ino);
	size_opened(ino, op->session, append);
	return record(op, append ? OPEN_APPEND : 0, ino, open);
}

/*
 * While the disk is nearly full, reading is possible, but without a hold.  A holder may
 * pass reading on to others (grant.c), so only an open for reading gets a hold.
 */
static bool holds(struct ns_op *op, uint32_t flags)
{
	return flags & WIRE_O_HOLD && flags & WIRE_O_READ &&
	       !(flags & WIRE_O_WRITE) && !store_check_space(op->ns->st);
}

static int record_holder(struct ns_op *op, struct inode *ino, uint64_t *open)
{
	ino->holders++;
	return record(op, OPEN_HOLD, ino, open);
}

/* Changes nothing else of the file. */
static int hold(struct ns_op *op, struct inode *ino, uint64_t *open)
{
	int rc;

	op->kept = op->declares && ino->nlink &&
		   !holds_add(op, ino->handle, open);
	if (op->kept)
		return 0;
	op->held = true;
	rc = record_holder(op, ino, open);
	return rc ? rc : inode_put(op->ns->st, ino);
}

static int create(struct ns_op *op, const struct ns_open_args *args,
		  struct ns_place *place, uint64_t *open)
{
	int rc;

	if (place->slash)
		return -EISDIR;
	rc = ns_may_create(op, &place->dir);
	if (rc)
		return rc;
	rc = ns_inode_new(op, S_IFREG | (args->mode & 07777), &place->dir,
			  &place->ino);
	if (!rc)
		rc = stripes(op->ns, args, &place->ino);
	if (!rc && args->flags & WIRE_O_WRITE)
		rc = ns_record_writer(op, args->flags, &place->ino, open);
	else if (!rc && holds(op, args->flags))
		rc = record_holder(op, &place->ino, open);
	return rc ? rc : ns_enter(op, place, &place->ino);
}

static int check_type(const struct ns_open_args *args,
		      const struct ns_place *place)
{
	const struct inode *ino = &place->ino;

	if (args->flags & WIRE_O_CREAT) {
		if (args->flags & WIRE_O_EXCL)
			return -EEXIST;
		if (place->slash || inode_is_dir(ino))
			return -EISDIR;
	}
	if (S_ISLNK(ino->mode))
		return args->flags & WIRE_O_DIRECTORY ? -ENOTDIR : -ELOOP;
	if (!inode_is_dir(ino) && args->flags & WIRE_O_DIRECTORY)
		return -ENOTDIR;
	if (!inode_is_dir(ino))
		return S_ISREG(ino->mode) ? 0 : -ENXIO;
	return args->flags & WRITES ? -EISDIR : 0;
}

static uint32_t wanted(uint32_t flags)
{
	uint32_t mask = 0;

	if (flags & WIRE_O_READ)
		mask |= R_OK;
	if (flags & WRITES)
		mask |= W_OK;
	return mask;
}

static int open_found(struct ns_op *op, const struct ns_open_args *args,
		      struct inode *ino, uint64_t *open, bool *truncate)
{
	bool trunc = args->flags & WIRE_O_TRUNC && op->truncated != ino->handle;
	int rc;

	if (!(args->flags & WRITES) || inode_is_dir(ino))
		return S_ISREG(ino->mode) && holds(op, args->flags)
			       ? hold(op, ino, open)
			       : 0;
	rc = ns_busy(op, ino);
	if (rc)
		return rc;
	if (trunc && !size_is(ino, 0)) {
		*truncate = true;
		return 0;
	}
	if (trunc)
		rc = ns_cut(op, ino);
	else if (args->flags & WIRE_O_WRITE)
		rc = ns_lose_caps(op, ino);
	if (rc)
		return rc;
	if (args->flags & WIRE_O_WRITE)
		rc = ns_record_writer(op, args->flags, ino, open);
	else if (holds(op, args->flags))
		rc = record_holder(op, ino, open);
	return rc ? rc : inode_put(op->ns->st, ino);
}

/* "name/" with O_CREAT fails, whatever exists there. */
static bool creates_dir(const struct ns_open_args *args)
{
	return args->flags & WIRE_O_CREAT && args->path.len &&
	       args->path.path[args->path.len - 1] == '/';
}

static unsigned int how_to_resolve(const struct ns_open_args *args)
{
	unsigned int how = NS_FOLLOW;
	uint32_t flags = args->flags;

	if (creates_dir(args))
		return NS_ENTRY;
	if (flags & WIRE_O_NOFOLLOW)
		how = 0;
	if (flags & WIRE_O_CREAT)
		how |= NS_ENTRY;
	if ((flags & WIRE_O_CREAT) && (flags & WIRE_O_EXCL))
		how = NS_ENTRY;
	return how;
}

int ns_open(struct ns_op *op, const struct ns_open_args *args,
	    struct inode *ino, uint64_t *open, bool *truncate)
{
	struct ns_place place;
	int rc;

	*open = 0;
	*truncate = false;
	rc = ns_resolve(op, &args->path, how_to_resolve(args), &place);
	if (rc)
		return rc;
	if (creates_dir(args))
		return -EISDIR;
	if (!place.found) {
		rc = create(op, args, &place, open);
	} else {
		rc = check_type(args, &place);
		if (!rc)
			rc = ns_may(op, &place.ino, wanted(args->flags));
		if (!rc)
			rc = open_found(op, args, &place.ino, open, truncate);
	}
	if (!rc)
		*ino = place.ino;
	return rc;
}
