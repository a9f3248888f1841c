/* SPDX-License-Identifier: BSD-2-Clause */
/* errands.c - see errands.h; the kernel's structures are those of <linux/fuse.h>. */
#include "client/fuse/hear/errands.h"

#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/lib/session/coroutine.h"

#define LONGEST 8192u /* bytes of a request: two names, or the text of a link */
#define ALSO_MOST 2u /* descriptors that the dozing thread also polls */
#define LEFT_LOOK_MS 10

struct errand {
	struct coroutine coroutine;
	struct errands *all;
	bool placed; /* its operation is at all->at */
	SLIST_ENTRY(errand) link; /* in idle */
	struct fuse_buf request;
	char mem[LONGEST];
};

struct errands {
	struct fuse_session *se;
	struct fs *fs;
	struct onlooker onlooker; /* the dozing thread, at the session at */
	atomic_uint away;

	pthread_mutex_t lock; /* protects all below; taken before drive.lock */
	SLIST_HEAD(, errand) idle;
	unsigned int made, most;
	/*
	 * The session that the dozing thread drives; NULL: none yet.  The keeper of an
	 * earlier or later session drives the operations there.
	 */
	_Atomic(struct session *) at;
	unsigned int nplaced;
};

bool errands_away(const struct errands *a)
{
	return atomic_load(&a->away);
}

/* ---- one errand: its session, and its end ---- */

static void posted(struct coroutine *coroutine, struct drive *drive)
{
	struct errand *e = container_of(coroutine, struct errand, coroutine);
	struct errands *a = e->all;

	pthread_mutex_lock(&a->lock);
	e->placed = session_driven(drive) == a->at;
	a->nplaced += e->placed;
	pthread_mutex_unlock(&a->lock);
	coroutine->tended = !e->placed;
}

static void answered(struct coroutine *coroutine, struct drive *drive)
{
	struct errand *e = container_of(coroutine, struct errand, coroutine);
	struct errands *a = e->all;

	pthread_mutex_lock(&a->lock);
	a->nplaced -= e->placed;
	pthread_mutex_unlock(&a->lock);
}

static bool ended(struct coroutine *coroutine)
{
	struct errand *e = container_of(coroutine, struct errand, coroutine);
	struct errands *a = e->all;

	pthread_mutex_lock(&a->lock);
	SLIST_INSERT_HEAD(&a->idle, e, link);
	atomic_fetch_sub(&a->away, 1);
	pthread_mutex_unlock(&a->lock);
	return false;
}

static void run(void *arg)
{
	struct errand *e = arg;

	fuse_session_process_buf(e->all->se, &e->request);
}

static struct errand *errand_new(struct errands *a)
{
	struct errand *e = a->made < a->most ? malloc(sizeof(*e)) : NULL;

	if (!e || coroutine_init(&e->coroutine)) {
		free(e);
		return NULL;
	}
	a->made++;
	e->all = a;
	e->coroutine.ended = ended;
	e->coroutine.posted = posted;
	e->coroutine.answered = answered;
	return e;
}

/* Returns an idle errand; NULL: there are too many, or there is no memory. */
static struct errand *errand_get(struct errands *a)
{
	struct errand *e;

	pthread_mutex_lock(&a->lock);
	e = SLIST_FIRST(&a->idle);
	if (e)
		SLIST_REMOVE_HEAD(&a->idle, link);
	else
		e = errand_new(a);
	if (e)
		atomic_fetch_add(&a->away, 1);
	pthread_mutex_unlock(&a->lock);
	return e;
}

/* ---- the session of the errands ---- */

/* Returns the session with a reference, or NULL. */
static struct session *place(struct errands *a)
{
	struct session *s;

	pthread_mutex_lock(&a->lock);
	s = a->at ? session_get(a->at) : NULL;
	pthread_mutex_unlock(&a->lock);
	return s;
}

static void leave(struct errands *a, struct session *s)
{
	if (!s)
		return;
	drive_overlook(&s->drive, &a->onlooker);
	session_put(s);
}

/*
 * Changes to the file system's present session, once no errand is at the previous one.
 */
static void follow(struct errands *a)
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
	leave(a, before);
	if (!over && next)
		session_put(next);
}

/* ---- starting ---- */

static bool suits(const struct fuse_buf *request)
{
	const struct fuse_in_header *hdr = request->mem;

	if (request->size > LONGEST || request->size < sizeof(*hdr))
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

bool errands_begin(struct errands *a, const struct fuse_buf *request,
		   struct drive **batch)
{
	struct errand *e = suits(request) ? errand_get(a) : NULL;

	if (!e)
		return false;
	follow(a);
	memcpy(e->mem, request->mem, request->size);
	e->request = *request;
	e->request.mem = e->mem;
	coroutine_begin(&e->coroutine, run, e, clock_now());
	coroutine_resume(&e->coroutine, NULL, batch);
	return true;
}

/* ---- dozing ---- */

/* False: there may be more to do. */
static bool drive(struct errands *a, struct pollfd *fd, unsigned int *n,
		  uint64_t *until)
{
	struct session *s = place(a);
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

static int soonest(int ms, uint64_t until)
{
	int left = clock_left_ms(until);

	return ms < 0 || (left >= 0 && left < ms) ? left : ms;
}

bool errands_doze(struct errands *a, const int *also, unsigned int n, int ms)
{
	struct pollfd fd[RPC_CTX_FDS + ALSO_MOST + 1];
	uint64_t until = CLOCK_NEVER;
	unsigned int i, nfd = 0;
	bool settled = true;
	eventfd_t count;
	int wait, rc;

	if (errands_away(a))
		settled = drive(a, fd, &nfd, &until);
	for (i = 0; i < n; i++)
		fd[nfd++] = (struct pollfd){ also[i], .events = POLLIN };
	fd[nfd] = (struct pollfd){ a->onlooker.event, .events = POLLIN };
	wait = settled ? soonest(ms, until) : 0;
	rc = poll(fd, nfd + 1, wait);
	if (rc > 0 && fd[nfd].revents)
		eventfd_read(a->onlooker.event, &count);
	return rc || wait != ms;
}

/* ---- start and end ---- */

int errands_new(struct fuse_session *se, struct fs *fs, unsigned int most,
		struct errands **out)
{
	struct errands *a = calloc(1, sizeof(*a));
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
static void wait_all(struct errands *a)
{
	while (errands_away(a))
		errands_doze(a, NULL, 0, LEFT_LOOK_MS);
	pthread_mutex_lock(&a->lock); /* the last errand has released it */
	pthread_mutex_unlock(&a->lock);
}

void errands_free(struct errands *a)
{
	struct errand *e;

	wait_all(a);
	while ((e = SLIST_FIRST(&a->idle))) {
		SLIST_REMOVE_HEAD(&a->idle, link);
		coroutine_fini(&e->coroutine);
		free(e);
	}
	leave(a, a->at);
	close(a->onlooker.event);
	pthread_mutex_destroy(&a->lock);
	free(a);
}
