/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open.c - OPEN: permission, creation, the open record of a writer; RELEASE, and ends of sessions.
 */
#include <errno.h>
#include <unistd.h>

#include "mgr/ns/holds.h"

/* ---- OPEN ---- */

#define WRITES (WIRE_O_WRITE | WIRE_O_TRUNC)

static int choose_stripes(struct ns *ns, const struct ns_open_args *args,
			  struct inode *ino)
{
	struct dist *d = &ino->dist;
	uint32_t all = ns->pcount ? ns->pcount : ns->niods;

	*d = args->dist;
	d->ring = ns->ring.id;
	if (d->base == UINT32_MAX)
		d->base = ns->next_base++ % ns->ring.n;
	if (d->pcount == UINT32_MAX)
		d->pcount = all < ns->niods ? all : ns->niods;
	if (d->ssize == UINT32_MAX)
		d->ssize = ns->ssize;
	return d->pcount > ns->niods ? -EINVAL : dist_check(d, ns->ring.n);
}

static int put_open_record(struct ns_op *op, uint32_t flags,
			   const struct inode *ino, uint64_t *open)
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
		ns_clear_suid(op->cred, ino);
	size_add_writer(ino, op->session, append);
	return put_open_record(op, append ? OPEN_APPEND : 0, ino, open);
}

/*
 * While the disk is nearly full, reading is possible, but without a hold.  A holder may
 * pass reading on to others (handover.c), so only an open for reading gets a hold.
 */
static bool wants_hold(struct ns_op *op, uint32_t flags)
{
	return flags & WIRE_O_HOLD && flags & WIRE_O_READ &&
	       !(flags & WIRE_O_WRITE) && !store_check_space(op->ns->st);
}

static int record_holder(struct ns_op *op, struct inode *ino, uint64_t *open)
{
	ino->holders++;
	return put_open_record(op, OPEN_HOLD, ino, open);
}

/* Changes nothing else of the file. */
static int hold_file(struct ns_op *op, struct inode *ino, uint64_t *open)
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

static int create_file(struct ns_op *op, const struct ns_open_args *args,
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
		rc = choose_stripes(op->ns, args, &place->ino);
	if (!rc && !ns_client_knows_ring(op, &place->ino))
		rc = -EOPNOTSUPP;
	if (!rc && args->flags & WIRE_O_WRITE)
		rc = ns_record_writer(op, args->flags, &place->ino, open);
	else if (!rc && wants_hold(op, args->flags))
		rc = record_holder(op, &place->ino, open);
	return rc ? rc : ns_add_entry(op, place, &place->ino);
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

static uint32_t wanted_access(uint32_t flags)
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
		return S_ISREG(ino->mode) && wants_hold(op, args->flags)
			       ? hold_file(op, ino, open)
			       : 0;
	rc = ns_check_busy(op, ino);
	if (rc)
		return rc;
	if (trunc && !size_equals(ino, 0)) {
		*truncate = true;
		return 0;
	}
	if (trunc)
		rc = ns_truncate_attrs(op, ino);
	else if (args->flags & WIRE_O_WRITE)
		rc = ns_clear_capabilities(op, ino);
	if (rc)
		return rc;
	if (args->flags & WIRE_O_WRITE)
		rc = ns_record_writer(op, args->flags, ino, open);
	else if (wants_hold(op, args->flags))
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
		rc = create_file(op, args, &place, open);
	} else {
		rc = check_type(args, &place);
		if (!rc)
			rc = ns_may(op, &place.ino, wanted_access(args->flags));
		if (!rc && !ns_client_knows_ring(op, &place.ino))
			rc = -EOPNOTSUPP;
		if (!rc)
			rc = open_found(op, args, &place.ino, open, truncate);
	}
	if (!rc)
		*ino = place.ino;
	return rc;
}

/* ---- RELEASE, and open records of ended sessions ---- */

#define ATIME_AGE_NS (24 * 3600 * INT64_C(1000000000))

static bool is_append(const struct open_rec *rec)
{
	return rec->flags & OPEN_APPEND;
}

/* Not for the owner: it may have set the bits after the write, as install(1) does. */
static void drop_suid(struct inode *ino, const struct open_rec *rec)
{
	if (rec->flags & OPEN_NOT_OWNER)
		ino->mode = mode_without_suid(ino->mode);
}

/* The time is the client's and may be ahead of ours. */
static int64_t read_at(const struct ns_op *op,
		       const struct ns_release_args *args)
{
	bool known = !(args->flags & WIRE_R_WROTE);

	return known && args->mtime < op->now ? args->mtime : op->now;
}

static void was_read(const struct ns_op *op, struct inode *ino,
		     const struct ns_release_args *args)
{
	int64_t t = read_at(op, args);

	if (t < ino->ctime) /* utimens may have set the time since */
		return;
	if (ino->atime <= ino->mtime || ino->atime <= ino->ctime ||
	    t - ino->atime >= ATIME_AGE_NS)
		ino->atime = t > ino->atime ? t : ino->atime;
}

/* Releases a hold that was only in memory. */
static int release_kept(struct ns_op *op, const struct ns_release_args *args)
{
	struct inode ino;
	int64_t before;
	int rc;

	op->kept = true;
	if (!(args->flags & WIRE_R_READ))
		return 0;
	rc = inode_get(op->ns->st, args->handle, &ino);
	if (rc)
		return rc == -ENOENT ? 0 : rc;
	before = ino.atime;
	was_read(op, &ino, args);
	return ino.atime == before ? 0 : inode_put(op->ns->st, &ino);
}

int ns_release(struct ns_op *op, const struct ns_release_args *args)
{
	struct store *st = op->ns->st;
	enum holds_result was;
	struct open_rec rec;
	struct inode ino;
	int rc;

	if (args->end > INT64_MAX)
		return -EINVAL;
	was = holds_release(op, args->handle, args->open);
	if (was == HOLDS_ALONE)
		return release_kept(op, args);
	rc = open_get(st, op->session, args->open, &rec);
	if (rc == -ENOENT && was == HOLDS_PERHAPS)
		return release_kept(op, args);
	if (rc == -ENOENT || (!rc && rec.handle != args->handle))
		return -EBADF;
	if (!rc)
		rc = inode_get(st, rec.handle, &ino);
	if (!rc)
		rc = open_del(st, rec.session, rec.open);
	if (rc)
		return rc;
	if (args->flags & WIRE_R_READ)
		was_read(op, &ino, args);
	if (rec.flags & OPEN_HOLD) {
		ino.holders--;
		return ns_put_or_remove(op, &ino);
	}
	if (args->flags & (WIRE_R_WROTE | WIRE_R_DOUBT))
		drop_suid(&ino, &rec);
	size_release_writer(&ino, is_append(&rec), args, op->now);
	return ns_put_or_remove(op, &ino);
}

int ns_drop_open(struct ns_op *op, uint64_t session)
{
	struct store *st = op->ns->st;
	struct open_rec rec;
	struct inode ino;
	int rc;

	rc = open_any(st, session, &rec);
	if (rc)
		return rc;
	holds_drop(op->ns, rec.session, rec.open);
	rc = open_del(st, rec.session, rec.open);
	if (!rc)
		rc = inode_get(st, rec.handle, &ino);
	if (rc)
		return rc == -ENOENT ? -EIO : rc;
	if (rec.flags & OPEN_HOLD) {
		ino.holders--;
		return ns_put_or_remove(op, &ino);
	}
	drop_suid(&ino, &rec); /* it is not known whether the session wrote */
	size_drop_writer(&ino, is_append(&rec));
	return ns_put_or_remove(op, &ino);
}
