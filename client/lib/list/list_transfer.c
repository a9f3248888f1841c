/* SPDX-License-Identifier: BSD-2-Clause */
/* list_transfer.c - a list transfer of an open file, and lists on ordinary files. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/lib/file/unsynced.h"
#include "client/lib/list/list_transfer.h"
#include "client/lib/session/coroutine.h"
#include "common/util/usermem.h"

/* Transfers one contiguous piece.  The result is below len only at the end of the file. */
static ssize_t piece_transfer(int fd, bool write, char *addr, uint64_t off,
			      uint64_t len)
{
	uint64_t done = 0;
	ssize_t n;

	while (done < len) {
		n = write ? pwrite(fd, addr + done, len - done,
				   (off_t)(off + done))
			  : pread(fd, addr + done, len - done,
				  (off_t)(off + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (uint64_t)n;
	}
	return (ssize_t)done;
}

/* The same through a partition, up to the first short piece. */
static ssize_t piece_through_view(const struct file_view *view, int fd,
				  bool write, const struct list_piece *p)
{
	uint64_t off, len, done = 0;
	struct view_iter it;
	ssize_t n;

	if (!view)
		return piece_transfer(fd, write, p->addr, p->pos, p->len);
	view_iter_init(&it, view, p->pos, p->len);
	while (view_iter_next(&it, &off, &len)) {
		n = piece_transfer(fd, write, p->addr + done, off, len);
		if (n < 0)
			return n;
		done += (uint64_t)n;
		if ((uint64_t)n < len)
			break;
	}
	return (ssize_t)done;
}

/* Pieces beyond the end are also tried, because later ones may lie before it. */
ssize_t list_ordinary(const struct file_view *view, int fd,
		      const struct transfer_list *list)
{
	size_t n, i;
	struct list_piece *p = list_cut(list, &n);
	ssize_t got, sum = 0;
	bool whole = true;

	if (!p)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		got = piece_through_view(view, fd, list->write, &p[i]);
		if (got < 0) {
			sum = got;
			break;
		}
		if (whole)
			sum += got;
		whole = whole && (uint64_t)got == p[i].len;
	}
	free(p);
	return sum;
}

struct list_run {
	struct file *f;
	struct io_plan plan;
	struct file_view view;
	uint32_t flags; /* WIRE_IO_* */
	uint64_t least;
	uint64_t n; /* bytes read */
};

static int list_check(const struct file *f, const struct transfer_list *list)
{
	int flags = atomic_load(&f->flags), mode = flags & O_ACCMODE;

	if (mode != O_RDWR && mode != (list->write ? O_WRONLY : O_RDONLY))
		return -EBADF;
	if (f->type == S_IFDIR)
		return -EISDIR;
	/* list pieces have explicit offsets */
	return list->write && flags & O_APPEND ? -EINVAL : 0;
}

static void list_prepare(struct list_run *r, struct file *f,
			 const struct transfer_list *list)
{
	r->f = f;
	r->flags = atomic_load(&f->flags) & O_DSYNC ? WIRE_IO_SYNC : 0;
	pthread_mutex_lock(&f->lock);
	r->least = f->least;
	r->view = f->view;
	pthread_mutex_unlock(&f->lock);
	r->plan = (struct io_plan){
		.dist = &f->dist,
		.view = &r->view,
		.span = list->span,
		.nspan = list->nspan,
		.iov = list->iov,
		.niov = list->niov,
		.parent = list->parent,
		.nparent = list->nparent,
		.loans = &f->loans,
	};
}

static void plan_use_list(struct list_run *r, const struct transfer_list *list)
{
	r->plan.span = list->span;
	r->plan.nspan = list->nspan;
	r->plan.iov = list->iov;
	r->plan.niov = list->niov;
}

/* Gets the offset after the last byte of the file that the list names. */
static int file_end(const struct list_run *r, const struct transfer_list *list,
		    uint64_t *end)
{
	uint64_t e;
	unsigned int i;

	*end = 0;
	for (i = 0; i < list->nspan; i++) {
		if (!view_end(&r->view, list->span[i].pos, list->span[i].len,
			      &e))
			return list->write ? -EFBIG : -EOVERFLOW;
		if (e > *end)
			*end = e;
	}
	return 0;
}

/* ---- writing ---- */

/* Records the write, as one range if the pieces are contiguous. */
static void list_record_write(struct list_run *r,
			      const struct transfer_list *list, uint64_t end,
			      int rc, unsigned int since)
{
	uint64_t pos = list->span[0].pos, from = 0;
	bool one = !r->view.gsize && view_map(&r->view, pos, &from) &&
		   list_rises(list) && end - from == list->total;

	file_record_write(r->f, one ? from : 0, end, rc, since);
	if (!one)
		file_doubt_space(r->f);
}

static int do_write(struct session *s, const struct target *t, void *arg)
{
	struct list_run *r = arg;

	return io_write(s, t->handle, &r->plan, r->flags);
}

static ssize_t write_list(struct list_run *r, const struct transfer_list *list,
			  uint64_t end)
{
	struct transfer_list sorted = { 0 };
	unsigned int since = unsynced_since(r->f, r->flags);
	int rc = 0;

	if (!list_rises(list)) {
		rc = list_sorted(list, &sorted);
		if (!rc)
			plan_use_list(r, &sorted);
		else if (rc != -EEXIST)
			return rc;
		r->plan.serial = rc == -EEXIST;
	}
	rc = file_run(r->f, do_write, r);
	list_record_write(r, list, end, rc, since);
	list_free(&sorted);
	return rc ? rc : (ssize_t)list->total;
}

/* ---- reading ---- */

static int do_read(struct session *s, const struct target *t, void *arg)
{
	struct list_run *r = arg;
	struct attr attr;
	bool doubt;
	int rc = io_read(s, t->handle, &r->plan, r->least, &r->n, &doubt);

	/* the objects of a file that a writer has open stay */
	if (!rc && doubt && !t->open)
		rc = mgr_getattr(s, t, &attr);
	return rc;
}

/* Reads an ascending list.  *pos: position of the first missing byte. */
static int read_rising(struct list_run *r, const struct transfer_list *list,
		       uint64_t *pos)
{
	int rc;

	plan_use_list(r, list);
	rc = file_run(r->f, do_read, r);
	if (!rc)
		*pos = list_pos(list, r->n);
	return rc;
}

/* Pieces overlap: each byte is read once, and then copied to its places. */
static int read_apart(struct list_run *r, const struct transfer_list *list,
		      uint64_t *pos)
{
	struct transfer_list all;
	char *data;
	int rc = list_union(list, &all);

	if (rc)
		return rc;
	/* hints do not apply to the intermediate memory */
	r->plan.parent = NULL;
	r->plan.nparent = 0;
	/* list_deal() copies without these checks */
	if (!usermem_there(list->iov, list->niov, true)) {
		list_free(&all);
		return -EFAULT;
	}
	data = malloc(all.total);
	rc = data ? list_add_memory(&all, data, all.total) : -ENOMEM;
	if (!rc)
		rc = read_rising(r, &all, pos);
	if (!rc)
		rc = list_deal(list, &all, data, *pos);
	free(data);
	list_free(&all);
	return rc;
}

static int read_sorted(struct list_run *r, const struct transfer_list *list,
		       uint64_t *pos)
{
	struct transfer_list sorted;
	int rc = list_sorted(list, &sorted);

	if (rc == -EEXIST)
		return read_apart(r, list, pos);
	if (rc)
		return rc;
	rc = read_rising(r, &sorted, pos);
	list_free(&sorted);
	return rc;
}

static ssize_t read_list(struct list_run *r, const struct transfer_list *list)
{
	uint64_t pos;
	int rc = list_distinct(list);

	if (rc < 0)
		return rc;
	if (!rc)
		rc = read_apart(r, list, &pos);
	else if (list_rises(list))
		rc = read_rising(r, list, &pos);
	else
		rc = read_sorted(r, list, &pos);
	return rc ? rc : (ssize_t)list_before(list, pos);
}

static ssize_t list_run_uncounted(struct file *f, int fd,
				  const struct transfer_list *list)
{
	struct list_run r;
	uint64_t end;
	int rc = list_check(f, list);

	if (rc || !list->total)
		return rc;
	list_prepare(&r, f, list);
	rc = file_end(&r, list, &end);
	if (rc)
		return rc;
	if (!f->fs)
		return list_ordinary(&r.view, fd, list);
	return list->write ? write_list(&r, list, end) : read_list(&r, list);
}

/* Counts the list as one transfer of all its bytes, at the position of its first piece. */
static ssize_t run_counted(struct file *f, int fd,
			   const struct transfer_list *list)
{
	struct profile_call call = {
		.kind = list->write ? PROFILE_LIST_WRITE : PROFILE_LIST_READ,
		.file = f->profile,
		.begun = clock_now(),
		.aside = coroutine_self() != NULL,
		.off = list->nspan ? list->span[0].pos : 0,
		.pieces = list->nspan,
	};

	call.result = list_run_uncounted(f, fd, list);
	profile_count(&call);
	return (ssize_t)call.result;
}

ssize_t list_run(struct file *f, int fd, const struct transfer_list *list)
{
	return profile_on() && f->fs ? run_counted(f, fd, list)
				     : list_run_uncounted(f, fd, list);
}
