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

#define REQUEST_MAX                                                            \
	8192u /* bytes of a request: two names, or the text of a link */
#define EXTRA_FDS_MAX 2u /* descriptors that the dozing thread also polls */
#define DRAIN_POLL_MS 10

struct async_request {
	struct coroutine coroutine;
	struct async_requests *all;
	bool placed; /* its operation is at all->at */
	SLIST_ENTRY(async_request) link; /* in idle */
	struct fuse_buf request;
	char mem[REQUEST_MAX];
};

struct async_requests {
	struct fuse_session *se;
	struct fs *fs;
	struct onlooker onlooker; /* the dozing thread, at the session at */
	atomic_uint away;

	pthread_mutex_t lock; /* protects all below; taken before drive.lock */
	SLIST_HEAD(, async_request) idle;
	unsigned int made, most;
	/*
	 * The session that the dozing thread drives; NULL: none yet.  The keeper of an
	 * earlier or later session drives the operations there.
	 */
	_Atomic(struct session *) at;
	unsigned int nplaced;
};

bool async_requests_running(const struct async_requests *a)
{
	return atomic_load(&a->away);
}

/* ---- one errand: its session, and its end ---- */

static void request_sent(struct coroutine *coroutine, struct drive *drive)
{
	struct async_request *e = container_of(coroutine, struct async_request,
					       coroutine);
	struct async_requests *a = e->all;

	pthread_mutex_lock(&a->lock);
	e->placed = session_driven(drive) == a->at;
	a->nplaced += e->placed;
	pthread_mutex_unlock(&a->lock);
	coroutine->tended = !e->placed;
}

static void request_answered(struct coroutine *coroutine, struct drive *drive)
{
	struct async_request *e = container_of(coroutine, struct async_request,
					       coroutine);
	struct async_requests *a = e->all;

	pthread_mutex_lock(&a->lock);
	a->nplaced -= e->placed;
	pthread_mutex_unlock(&a->lock);
}

static bool request_ended(struct coroutine *coroutine)
{
	struct async_request *e = container_of(coroutine, struct async_request,
					       coroutine);
	struct async_requests *a = e->all;

	pthread_mutex_lock(&a->lock);
	SLIST_INSERT_HEAD(&a->idle, e, link);
	atomic_fetch_sub(&a->away, 1);
	pthread_mutex_unlock(&a->lock);
	return false;
}

static void process_request(void *arg)
{
	struct async_request *e = arg;

	fuse_session_process_buf(e->all->se, &e->request);
}

static struct async_request *async_request_new(struct async_requests *a)
{
	struct async_request *e = a->made < a->most ? malloc(sizeof(*e)) : NULL;

	if (!e || coroutine_init(&e->coroutine)) {
		free(e);
		return NULL;
	}
	a->made++;
	e->all = a;
	e->coroutine.ended = request_ended;
	e->coroutine.posted = request_sent;
	e->coroutine.answered = request_answered;
	return e;
}

/* Returns an idle errand; NULL: there are too many, or there is no memory. */
static struct async_request *async_request_get(struct async_requests *a)
{
	struct async_request *e;

	pthread_mutex_lock(&a->lock);
	e = SLIST_FIRST(&a->idle);
	if (e)
		SLIST_REMOVE_HEAD(&a->idle, link);
	else
		e = async_request_new(a);
	if (e)
		atomic_fetch_add(&a->away, 1);
	pthread_mutex_unlock(&a->lock);
	return e;
}

/* ---- the session of the errands ---- */

/* Returns the session with a reference, or NULL. */
static struct session *current_session(struct async_requests *a)
{
	struct session *s;

	pthread_mutex_lock(&a->lock);
	s = a->at ? session_get(a->at) : NULL;
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
 * Changes to the file system's present session, once no errand is at the previous one.
 */
static void follow_session(struct async_requests *a)
{
	struct session *next, *before = NULL;
	bool over;

	if (atomic_load(&a->at) == atomic_load(&a->fs->ready))
		return;
	next = fs_present(a->fs);
	pthread_mutex_lock(&a->lock);
	over = !a->nplaced;
	if (over)
		before = atomic_exchange(&a->at, next);
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
	struct async_request *e = can_run_async(request) ? async_request_get(a)
							 : NULL;

	if (!e)
		return false;
	follow_session(a);
	memcpy(e->mem, request->mem, request->size);
	e->request = *request;
	e->request.mem = e->mem;
	coroutine_begin(&e->coroutine, process_request, e, clock_now());
	coroutine_resume(&e->coroutine, NULL, batch);
	return true;
}

/* ---- dozing ---- */

/* False: there may be more to do. */
static bool drive_requests(struct async_requests *a, struct pollfd *fd,
			   unsigned int *n, uint64_t *until)
{
	struct session *s = current_session(a);
	bool settled;

	if (!s)
		return true;
	settled = drive_rest(&s->drive, &a->onlooker, fd, n, until);
	if (s != atomic_load(&a->at)) {
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

int async_requests_new(struct fuse_session *se, struct fs *fs,
		       unsigned int most, struct async_requests **out)
{
	struct async_requests *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return -ENOMEM;
	a->se = se;
	a->fs = fs;
	a->most = most;
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

/* Errands that a keeper drives do not wake this thread when they end. */
static void wait_all(struct async_requests *a)
{
	while (async_requests_running(a))
		async_requests_wait(a, NULL, 0, DRAIN_POLL_MS);
	pthread_mutex_lock(&a->lock); /* the last errand has released it */
	pthread_mutex_unlock(&a->lock);
}

void async_requests_free(struct async_requests *a)
{
	struct async_request *e;

	wait_all(a);
	while ((e = SLIST_FIRST(&a->idle))) {
		SLIST_REMOVE_HEAD(&a->idle, link);
		coroutine_fini(&e->coroutine);
		free(e);
	}
	leave_session(a, a->at);
	close(a->onlooker.event);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
