/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ad_pvfs_async.c - nonblocking accesses, contiguous or not.  For MPI, each is a generalised
 * request.  It is executed as requests of libpvfs (pvfs_aio.h), one after the other.  These make no
 * MPI calls, so any level of thread support is enough.
 *
 *   [lock] ---> as many pieces as a call takes ---+---> [unlock] ---> over
 *                ^------------------------------'
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <pvfs_aio.h>

#include "romio-adio/strided.h"

/* An access in flight while the program computes. */
struct pending {
	struct pvfs_aio aio;
	struct strided *s;
	struct flock range; /* locked range of an atomic access */
	int64_t result; /* bytes or -errno, valid once it is over */
	atomic_bool over;
};

/* The queue of the process, and the class of its MPI requests. */
static struct {
	pthread_mutex_t lock; /* protects the creation of the queue */
	struct pvfs_aio_queue *queue;
	MPIX_Grequest_class class; /* protected by ROMIO's lock */
} process = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Marks an access as over, however it was executed. */
static void pending_ended(struct pending *p, int64_t result)
{
	p->result = result;
	atomic_store(&p->over, true);
}

static bool pending_over(const struct pending *p)
{
	return atomic_load(&p->over);
}

static void submit_request(struct pending *p)
{
	struct pvfs_aio *const list[] = { &p->aio };

	/* fails only in a child of this process, which must not use MPI */
	if (pvfs_aio_submit(process.queue, list, 1))
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

	pthread_mutex_lock(&process.lock);
	if (!process.queue &&
	    pvfs_aio_queue_new(PVFS_AIO_TENDED, &process.queue))
		rc = -errno;
	pthread_mutex_unlock(&process.lock);
	return rc;
}

/*
 * Starts an access.  s must exist until the access is over.  Returns 0, or -errno: nothing was
 * started.
 */
static int pending_start(struct pending *p, struct strided *s)
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

/* Advances the access as far as possible without waiting.  Returns pending_over(). */
static bool pending_move(struct pending *p)
{
	if (!pending_over(p))
		pvfs_aio_wait(process.queue, NULL, 0, 0, 0);
	return pending_over(p);
}

/*
 * Drives the access and waits until it is over, at most the given seconds.  0: no limit is needed,
 * because each request has a timeout.
 */
static void pending_wait(struct pending *p, double seconds)
{
	int ms = seconds <= 0	  ? -1
		 : seconds > 3600 ? 3600 * 1000
				  : (int)(seconds * 1000) + 1;

	/* requests of other accesses may end here, too */
	while (!pending_over(p)) {
		pvfs_aio_wait(process.queue, NULL, 0, 1, ms);
		if (ms > 0)
			return;
	}
}

/* ---- requests of MPI ---- */

struct access {
	struct pending p;
	struct strided s;
	char *name;
	MPI_Request request;
	bool complete; /* MPI knows that the access is over */
};

static void access_free(struct access *a)
{
	strided_free(&a->s);
	free(a->name);
	free(a);
}

/* ---- callbacks for MPI ---- */

static int on_query(void *state, MPI_Status *status)
{
	const struct access *a = state;
	int64_t n = a->p.result;

	MPI_Status_set_elements_x(status, MPI_BYTE, n < 0 ? 0 : n);
	MPI_Status_set_cancelled(status, 0);
	if (n >= 0)
		return MPI_SUCCESS;
	return ADIOI_Err_create_code(a->s.write ? "pvfs_write_list"
						: "pvfs_read_list",
				     a->name, (int)-n);
}

static int on_free(void *state)
{
	struct access *a = state;

	pending_wait(&a->p, 0);
	access_free(a);
	return MPI_SUCCESS;
}

/* Cancels nothing, because the transfer is in flight. */
static int on_cancel(void *state, int complete)
{
	(void)state;
	(void)complete;
	return MPI_SUCCESS;
}

static int complete_request(struct access *a)
{
	if (a->complete || !pending_move(&a->p))
		return MPI_SUCCESS;
	a->complete = true;
	return MPI_Grequest_complete(a->request);
}

static int on_poll(void *state, MPI_Status *status)
{
	(void)status;
	return complete_request(state);
}

static int on_wait(int count, void **states, double timeout, MPI_Status *status)
{
	int i, err = MPI_SUCCESS;

	(void)status;
	for (i = 0; i < count && err == MPI_SUCCESS; i++) {
		struct access *a = states[i];

		pending_wait(&a->p, timeout);
		err = complete_request(a);
	}
	return err;
}

/* ---- start ---- */

static int request_new(struct access *a, ADIO_Request *request)
{
	int err = MPI_SUCCESS;

	if (!process.class)
		err = MPIX_Grequest_class_create(on_query, on_free, on_cancel,
						 on_poll, on_wait,
						 &process.class);
	if (err == MPI_SUCCESS)
		err = MPIX_Grequest_class_allocate(process.class, a, request);
	a->request = *request;
	return err;
}

static struct access *access_new(ADIO_File fd, unsigned int how,
				 const void *buf, int count, MPI_Datatype type,
				 int ptr, ADIO_Offset off)
{
	struct access *a = calloc(1, sizeof(*a));

	if (!a || strided_init(&a->s, fd, how | STRIDED_KEEP, buf, count, type,
			       ptr, off)) {
		free(a);
		return NULL;
	}
	a->name = strdup(fd->filename);
	if (a->name)
		return a;
	access_free(a);
	return NULL;
}

/*
 * Whether the access may run while the program continues.  In atomic mode, it must have its own
 * locks: otherwise, two accesses of one rank would not exclude each other.  A contiguous access has
 * ROMIO's locks, which ROMIO releases when this call returns.
 */
static bool may_run_beside(const ADIO_File fd, struct access *a)
{
	if (!fd->atomicity)
		return true;
	return a->s.atomic && strided_alone(&a->s, a->name);
}

static void start_access(ADIO_File fd, unsigned int how, const void *buf,
			 int count, MPI_Datatype type, int ptr, ADIO_Offset off,
			 ADIO_Request *request, int *error_code)
{
	struct access *a = access_new(fd, how, buf, count, type, ptr, off);

	if (!a) {
		*error_code = ADIOI_Err_create_code("ad_pvfs_async",
						    fd->filename, ENOMEM);
		return;
	}
	*error_code = request_new(a, request);
	if (*error_code != MPI_SUCCESS) {
		access_free(a);
		return;
	}
	if (ptr == ADIO_INDIVIDUAL && a->s.total)
		fd->fp_ind = strided_place(&a->s, a->s.total);
	if (!may_run_beside(fd, a) || pending_start(&a->p, &a->s))
		pending_ended(&a->p, strided_run(&a->s));
}

void ad_pvfs_iread_contig(ADIO_File fd, void *buf, int count, MPI_Datatype type,
			  int ptr, ADIO_Offset off, ADIO_Request *request,
			  int *error_code)
{
	start_access(fd, STRIDED_CONTIG, buf, count, type, ptr, off, request,
		     error_code);
}

void ad_pvfs_iwrite_contig(ADIO_File fd, const void *buf, int count,
			   MPI_Datatype type, int ptr, ADIO_Offset off,
			   ADIO_Request *request, int *error_code)
{
	start_access(fd, STRIDED_CONTIG | STRIDED_WRITE, buf, count, type, ptr,
		     off, request, error_code);
}

void ad_pvfs_iread_strided(ADIO_File fd, void *buf, int count,
			   MPI_Datatype type, int ptr, ADIO_Offset off,
			   ADIO_Request *request, int *error_code)
{
	start_access(fd, 0, buf, count, type, ptr, off, request, error_code);
}

void ad_pvfs_iwrite_strided(ADIO_File fd, const void *buf, int count,
			    MPI_Datatype type, int ptr, ADIO_Offset off,
			    ADIO_Request *request, int *error_code)
{
	start_access(fd, STRIDED_WRITE, buf, count, type, ptr, off, request,
		     error_code);
}
