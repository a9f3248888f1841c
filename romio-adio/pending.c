/* SPDX-License-Identifier: BSD-2-Clause */
/* pending.c - see pending.h. */
#include "romio-adio/pending.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

/* One for the process, like MPI. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pvfs_aio_queue *queue;

static void submit_request(struct pending *p)
{
	struct pvfs_aio *const list[] = { &p->aio };

	/* fails only in a child of this process, which must not use MPI */
	if (pvfs_aio_submit(queue, list, 1))
		pending_ended(p, -errno);
}

/* ---- the steps: the end of each starts the next ---- */

static void on_unlocked(struct pvfs_aio *aio)
{
	struct pending *p = aio->data;

	if (p->result >= 0 && aio->error)
		p->result = -aio->error;
	pending_ended(p, p->result);
}

static void unlock_or_end(struct pending *p, int64_t result)
{
	if (!p->s->atomic) {
		pending_ended(p, result);
		return;
	}
	p->result = result;
	p->range = strided_range(p->s, F_UNLCK);
	pvfs_aio_prep_lock(&p->aio, p->s->fd, F_OFD_SETLK, &p->range);
	p->aio.done = on_unlocked;
	submit_request(p);
}

static void on_moved(struct pvfs_aio *aio);

static void submit_pieces(struct pending *p)
{
	struct strided *s = p->s;
	struct strided_call c;

	strided_next(s, &c);
	(s->write ? pvfs_aio_prep_write_list
		  : pvfs_aio_prep_read_list)(&p->aio, s->fd, s->m.n, c.mem,
					     c.mem_len, c.hint, c.hint_len,
					     s->f.n, s->f.at, s->f.len);
	p->aio.done = on_moved;
	submit_request(p);
}

static void on_moved(struct pvfs_aio *aio)
{
	struct pending *p = aio->data;

	if (aio->error)
		unlock_or_end(p, -aio->error);
	else if (strided_more(p->s, aio->result))
		submit_pieces(p);
	else
		unlock_or_end(p, p->s->done);
}

static void on_locked(struct pvfs_aio *aio)
{
	struct pending *p = aio->data;

	if (aio->error)
		pending_ended(p, -aio->error);
	else
		submit_pieces(p);
}

static void begin_locked(struct pending *p)
{
	p->range = strided_range(p->s, p->s->write ? F_WRLCK : F_RDLCK);
	pvfs_aio_prep_lock(&p->aio, p->s->fd, F_OFD_SETLKW, &p->range);
	p->aio.done = on_locked;
	submit_request(p);
}

/* ---- start and end ---- */

static int have_queue(void)
{
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (!queue && pvfs_aio_queue_new(PVFS_AIO_TENDED, &queue))
		rc = -errno;
	pthread_mutex_unlock(&lock);
	return rc;
}

int pending_start(struct pending *p, struct strided *s)
{
	int rc = have_queue();

	if (rc)
		return rc;
	p->s = s;
	p->aio.data = p;
	atomic_store(&p->over, false);
	strided_first(s);
	if (!s->total)
		pending_ended(p, 0);
	else if (s->atomic)
		begin_locked(p);
	else
		submit_pieces(p);
	return 0;
}

void pending_ended(struct pending *p, int64_t result)
{
	p->result = result;
	atomic_store(&p->over, true);
}

bool pending_over(const struct pending *p)
{
	return atomic_load(&p->over);
}

bool pending_move(struct pending *p)
{
	if (!pending_over(p))
		pvfs_aio_wait(queue, NULL, 0, 0, 0);
	return pending_over(p);
}

void pending_wait(struct pending *p, double seconds)
{
	int ms = seconds <= 0	  ? -1
		 : seconds > 3600 ? 3600 * 1000
				  : (int)(seconds * 1000) + 1;

	/* requests of other accesses end meanwhile, too */
	while (!pending_over(p)) {
		pvfs_aio_wait(queue, NULL, 0, 1, ms);
		if (ms > 0)
			return;
	}
}
