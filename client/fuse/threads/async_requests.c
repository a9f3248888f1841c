/* SPDX-License-Identifier: BSD-2-Clause */
/* async_requests.c - see async_requests.h; the kernel's structures are those of <linux/fuse.h>. */
#include "client/fuse/threads/async_requests.h"

#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/lib/session/coroutine.h"

/* bytes of a request: two names, or the text of a link */
#define REQUEST_MAX 8192u
#define EXTRA_FDS_MAX 2u /* descriptors that the waiting thread also polls */
#define DRAIN_POLL_MS 10

struct async_request {
	struct coroutine coroutine;
	struct async_requests *all;
	bool in_session; /* it waits for a server in all->session */
	SLIST_ENTRY(async_request) link; /* in idle */
	struct fuse_buf request;
	char mem[REQUEST_MAX];
};

struct async_requests {
	struct fuse_session *se;
	struct fs *fs;
	struct onlooker onlooker; /* the waiting thread, in the session below */
	atomic_uint running;

	pthread_mutex_t lock; /* protects all below; taken before drive.lock */
	SLIST_HEAD(, async_request) idle;
	unsigned int made, max;
	/*
	 * The session that the waiting thread drives; NULL: none yet.  Operations in any other
	 * session are driven by that session's thread.
	 */
	_Atomic(struct session *) session;
	unsigned int waiting; /* requests that wait for a server there */
};

bool async_requests_running(const struct async_requests *a)
{
	return atomic_load(&a->running);
}

/* ---- one request: its session, and its end ---- */

static void request_sent(struct coroutine *coroutine, struct drive *drive)
{
	struct async_request *r = container_of(coroutine, struct async_request,
					       coroutine);
	struct async_requests *a = r->all;

	pthread_mutex_lock(&a->lock);
	r->in_session = session_driven(drive) == a->session;
	a->waiting += r->in_session;
	pthread_mutex_unlock(&a->lock);
	coroutine->tended = !r->in_session;
}

static void request_answered(struct coroutine *coroutine, struct drive *drive)
{
	struct async_request *r = container_of(coroutine, struct async_request,
					       coroutine);
	struct async_requests *a = r->all;

	pthread_mutex_lock(&a->lock);
	a->waiting -= r->in_session;
	pthread_mutex_unlock(&a->lock);
}

static bool request_ended(struct coroutine *coroutine)
{
	struct async_request *r = container_of(coroutine, struct async_request,
					       coroutine);
	struct async_requests *a = r->all;

	pthread_mutex_lock(&a->lock);
	SLIST_INSERT_HEAD(&a->idle, r, link);
	atomic_fetch_sub(&a->running, 1);
	pthread_mutex_unlock(&a->lock);
	return false;
}

static void process_request(void *arg)
{
	struct async_request *r = arg;

	fuse_session_process_buf(r->all->se, &r->request);
}

static struct async_request *async_request_new(struct async_requests *a)
{
	struct async_request *r = a->made < a->max ? malloc(sizeof(*r)) : NULL;

	if (!r || coroutine_init(&r->coroutine)) {
		free(r);
		return NULL;
	}
	a->made++;
	r->all = a;
	r->coroutine.ended = request_ended;
	r->coroutine.posted = request_sent;
	r->coroutine.answered = request_answered;
	return r;
}

/* Returns an idle request; NULL: there are too many, or there is no memory. */
static struct async_request *async_request_get(struct async_requests *a)
{
	struct async_request *r;

	pthread_mutex_lock(&a->lock);
	r = SLIST_FIRST(&a->idle);
	if (r)
		SLIST_REMOVE_HEAD(&a->idle, link);
	else
		r = async_request_new(a);
	if (r)
		atomic_fetch_add(&a->running, 1);
	pthread_mutex_unlock(&a->lock);
	return r;
}

/* ---- the session of the requests ---- */

/* Returns the session with a reference, or NULL. */
static struct session *current_session(struct async_requests *a)
{
	struct session *s;

	pthread_mutex_lock(&a->lock);
	s = a->session ? session_get(a->session) : NULL;
	pthread_mutex_unlock(&a->lock);
	return s;
}

static void leave_session(struct async_requests *a, struct session *s)
{
	if (!s)
		return;
	drive_overlook(&s->drive, &a->onlooker);
	session_put(s);
}

/*
 * Switches to the file system's present session, once no request waits in the previous one.
 */
static void follow_session(struct async_requests *a)
{
	struct session *next, *before = NULL;
	bool over;

	if (atomic_load(&a->session) == atomic_load(&a->fs->ready))
		return;
	next = fs_present(a->fs);
	pthread_mutex_lock(&a->lock);
	over = !a->waiting;
	if (over)
		before = atomic_exchange(&a->session, next);
	pthread_mutex_unlock(&a->lock);
	leave_session(a, before);
	if (!over && next)
		session_put(next);
}

/* ---- starting ---- */

static bool can_run_async(const struct fuse_buf *request)
{
	const struct fuse_in_header *hdr = request->mem;

	if (request->size > REQUEST_MAX || request->size < sizeof(*hdr))
		return false;
	switch (hdr->opcode) {
	case FUSE_LOOKUP:
	case FUSE_GETATTR:
	case FUSE_SETATTR:
	case FUSE_READLINK:
	case FUSE_SYMLINK:
	case FUSE_MKNOD:
	case FUSE_MKDIR:
	case FUSE_UNLINK:
	case FUSE_RMDIR:
	case FUSE_RENAME:
	case FUSE_RENAME2:
	case FUSE_LINK:
	case FUSE_OPEN:
	case FUSE_CREATE:
	case FUSE_ACCESS:
	case FUSE_FLUSH:
	case FUSE_RELEASE:
	case FUSE_GETXATTR:
		return true;
	}
	return false;
}

bool async_requests_start(struct async_requests *a,
			  const struct fuse_buf *request, struct drive **batch)
{
	struct async_request *r = can_run_async(request) ? async_request_get(a)
							 : NULL;

	if (!r)
		return false;
	follow_session(a);
	memcpy(r->mem, request->mem, request->size);
	r->request = *request;
	r->request.mem = r->mem;
	coroutine_begin(&r->coroutine, process_request, r, clock_now());
	coroutine_resume(&r->coroutine, NULL, batch);
	return true;
}

/* ---- waiting ---- */

/*
 * Drives the session of the requests as drive_rest() does.  Returns false if there may be more to
 * do.
 */
static bool drive_requests(struct async_requests *a, struct pollfd *fd,
			   unsigned int *n, uint64_t *until)
{
	struct session *s = current_session(a);
	bool settled;

	if (!s)
		return true;
	settled = drive_rest(&s->drive, &a->onlooker, fd, n, until);
	if (s != atomic_load(&a->session)) {
		drive_overlook(&s->drive, &a->onlooker);
		settled = false;
	}
	session_put(s);
	return settled;
}

static int min_wait_ms(int ms, uint64_t until)
{
	int left = clock_left_ms(until);

	return ms < 0 || (left >= 0 && left < ms) ? left : ms;
}

bool async_requests_wait(struct async_requests *a, const int *extra,
			 unsigned int n, int ms)
{
	struct pollfd fd[RPC_CTX_FDS + EXTRA_FDS_MAX + 1];
	uint64_t until = CLOCK_NEVER;
	unsigned int i, nfd = 0;
	bool settled = true;
	eventfd_t count;
	int wait, rc;

	if (async_requests_running(a))
		settled = drive_requests(a, fd, &nfd, &until);
	for (i = 0; i < n; i++)
		fd[nfd++] = (struct pollfd){ extra[i], .events = POLLIN };
	fd[nfd] = (struct pollfd){ a->onlooker.event, .events = POLLIN };
	wait = settled ? min_wait_ms(ms, until) : 0;
	rc = poll(fd, nfd + 1, wait);
	if (rc > 0 && fd[nfd].revents)
		eventfd_read(a->onlooker.event, &count);
	return rc || wait != ms;
}

/* ---- start and end ---- */

int async_requests_new(struct fuse_session *se, struct fs *fs, unsigned int max,
		       struct async_requests **out)
{
	struct async_requests *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return -ENOMEM;
	a->se = se;
	a->fs = fs;
	a->max = max;
	pthread_mutex_init(&a->lock, NULL);
	SLIST_INIT(&a->idle);
	a->onlooker.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (a->onlooker.event < 0) {
		rc = -errno;
		free(a);
		return rc;
	}
	*out = a;
	return 0;
}

/* Requests that the thread of a session drives do not wake this thread when they end. */
static void wait_all(struct async_requests *a)
{
	while (async_requests_running(a))
		async_requests_wait(a, NULL, 0, DRAIN_POLL_MS);
	pthread_mutex_lock(&a->lock); /* the last request has released it */
	pthread_mutex_unlock(&a->lock);
}

void async_requests_free(struct async_requests *a)
{
	struct async_request *r;

	wait_all(a);
	while ((r = SLIST_FIRST(&a->idle))) {
		SLIST_REMOVE_HEAD(&a->idle, link);
		coroutine_fini(&r->coroutine);
		free(r);
	}
	leave_session(a, a->session);
	close(a->onlooker.event);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
