/* SPDX-License-Identifier: BSD-2-Clause */
/* rw_file.c - transfers of PVFS files. */
#include <errno.h>
#include <fcntl.h>

#include "client/lib/rw/rw.h"
#include "client/lib/file/unsynced.h"

struct transfer {
	struct file *f;
	struct plan plan;
	struct plan_span span;
	/* a copy, because SETPART may change it concurrently */
	struct view view;
	uint32_t flags; /* WIRE_IO_* */
	uint64_t least; /* file size known at the open */
	uint64_t n;
	uint64_t end; /* offset after a write */
	/* the session that reserved the place of an append; 0: none */
	uint64_t placed;
	/* the write started at its place, and may be done in part */
	bool begun;
};

static void view_of(struct file *f, bool whole, struct view *view)
{
	*view = (struct view){ 0 };
	if (whole || !atomic_load(&f->parted))
		return;
	pthread_mutex_lock(&f->lock);
	*view = f->view;
	pthread_mutex_unlock(&f->lock);
}

static void transfer_prepare(struct transfer *x, struct file *f,
			     const struct rw *rw, uint64_t pos, uint64_t total)
{
	int flags = atomic_load(&f->flags);

	x->f = f;
	x->span = (struct plan_span){ pos, total };
	x->flags = flags & O_DSYNC ? WIRE_IO_SYNC : 0;
	x->begun = false;
	x->placed = 0;
	x->least = f->least;
	view_of(f, rw->whole, &x->view);
	x->plan = (struct plan){
		.dist = &f->dist,
		.view = &x->view,
		.span = &x->span,
		.nspan = 1,
		.iov = rw->iov,
		.niov = (unsigned int)rw->niov,
		.loans = &f->loans,
	};
}

static int do_read(struct session *s, const struct target *t, void *arg)
{
	struct transfer *x = arg;
	struct attr attr;
	bool doubt;
	int rc = io_read(s, t->handle, &x->plan, x->least, &x->n, &doubt);

	/* the objects of a file that a writer has open stay */
	if (!rc && doubt && !t->open)
		rc = mgr_getattr(s, t, &attr);
	return rc;
}

static int do_write(struct session *s, const struct target *t, void *arg)
{
	struct transfer *x = arg;
	int rc;

	if (!view_end(&x->view, x->span.pos, x->span.len, &x->end))
		return -EFBIG;
	rc = io_write(s, t->handle, &x->plan, x->flags);
	x->begun = !session_is_over(rc);
	return rc;
}

/*
 * The place of an append belongs to the session that reserved it.  In another session it
 * may belong to others; a second place in the same session would leave a hole.
 */
static int do_append(struct session *s, const struct target *t, void *arg)
{
	struct transfer *x = arg;
	int rc = 0;

	if (x->placed != s->id)
		rc = mgr_append(s, t, x->span.len, &x->span.pos);
	if (rc)
		return rc;
	x->placed = s->id;
	return do_write(s, t, x);
}

static ssize_t read_file(struct transfer *x, uint64_t pos, bool at)
{
	uint64_t end;
	int rc;

	if (!view_end(&x->view, pos, x->span.len, &end))
		return -EOVERFLOW;
	rc = file_run(x->f, do_read, x);
	if (rc)
		return rc;
	if (!at)
		x->f->pos = pos + x->n;
	return (ssize_t)x->n;
}

/* For an append, the bytes below its place belong to other writers. */
static void transfer_record_write(struct transfer *x, bool append, int rc,
				  unsigned int since)
{
	uint64_t from = 0;

	if (!append)
		view_map(&x->view, x->span.pos, &from);
	file_wrote(x->f, from, x->end, rc, since);
	if (x->view.gsize)
		file_doubt_space(x->f);
}

static ssize_t write_file(struct transfer *x, target_op op, const struct rw *rw)
{
	unsigned int since = unsynced_since(x->f, x->flags);
	int rc = file_run(x->f, op, x);

	if (x->begun)
		transfer_record_write(x, op == do_append, rc, since);
	if (x->begun && rw->begun)
		*rw->begun = (int64_t)x->span.pos;
	if (rc)
		return rc;
	if (!rw->at)
		x->f->pos = x->span.pos + x->span.len;
	return (ssize_t)x->span.len;
}

ssize_t rw_file(struct file *f, const struct rw *rw, uint64_t pos,
		uint64_t total)
{
	bool append = atomic_load(&f->flags) & O_APPEND && !rw->placed;
	struct transfer x;

	transfer_prepare(&x, f, rw, pos, total);
	if (!rw->write)
		return read_file(&x, pos, rw->at);
	return write_file(&x, append ? do_append : do_write, rw);
}
