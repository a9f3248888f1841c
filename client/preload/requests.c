/* SPDX-License-Identifier: BSD-2-Clause */
/* requests.c - see requests.h. */
#include "client/preload/requests_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "client/preload/next.h"
#include "client/preload/self.h"
#include "client/lib/session/coroutine.h"
#include "client/preload/wrote.h"

#define SETTLE_MS 30000

/* ---- the queue of the process ---- */

static struct requests *requests_new(void)
{
	struct requests *all = calloc(1, sizeof(*all));

	if (!all || aio_queue_new(true, &all->queue)) {
		free(all);
		return NULL;
	}
	pthread_mutex_init(&all->lock, NULL);
	LIST_INIT(&all->under_way);
	return all;
}

/* All its calls have done(), so the list stays empty. */
static void requests_free(struct requests *all)
{
	struct aio_calls none = STAILQ_HEAD_INITIALIZER(none);

	aio_queue_free(all->queue, &none);
	free(all);
}

struct requests *requests_there(void)
{
	struct self *s = self_there();

	return s ? atomic_load(&s->requests) : NULL;
}

static struct requests *get(void)
{
	struct self *s = self_get();
	struct requests *all, *none = NULL;

	if (!s || (all = atomic_load(&s->requests)))
		return s ? all : NULL;
	all = requests_new();
	if (!all || atomic_compare_exchange_strong(&s->requests, &none, all))
		return all;
	requests_free(all);
	return none;
}

void requests_end(struct self *s, bool child)
{
	struct requests *all = atomic_exchange(&s->requests, NULL);

	if (!all)
		return;
	if (!child) {
		requests_free(all);
		return;
	}
	aio_queue_abandon(all->queue);
	free(all);
}

/* ---- end of a request ---- */

/* After this, the control block belongs to the program, and may be freed. */
static void tell(struct aiocb *cb, int64_t n)
{
	cb->__return_value = n < 0 ? -1 : n;
	__atomic_store_n(&cb->__error_code, n < 0 ? (int)-n : 0,
			 __ATOMIC_RELEASE);
}

static void submit(struct request *r)
{
	aio_queue_add(r->all->queue, &r->call);
	aio_queue_start(r->all->queue);
}

/*
 * Called with the lock.  Returns a sync that waited only for r, or NULL.  Requests older
 * than r do not wait for it.
 */
static struct request *next_sync(struct requests *all, const struct request *r)
{
	struct request *s;

	if (!all->behind)
		return NULL;
	LIST_FOREACH(s, &all->under_way, link)
		if (s->number > r->number && s->behind &&
		    s->move.use.fd == r->move.use.fd && !--s->behind) {
			all->behind--;
			return s;
		}
	return NULL;
}

void request_let_go(struct request *r, bool ended)
{
	struct requests *all = r->all;
	bool last;

	pthread_mutex_lock(&all->lock);
	if (ended)
		r->over = true;
	else
		r->held--;
	last = r->over && !r->held;
	pthread_mutex_unlock(&all->lock);
	if (last)
		free(r);
}

static void ended(struct aio_call *call)
{
	struct request *r = container_of(call, struct request, call);
	struct requests *all = r->all;
	struct request *sync;

	pthread_mutex_lock(&all->lock);
	LIST_REMOVE(r, link);
	sync = next_sync(all, r);
	pthread_mutex_unlock(&all->lock);
	if (call->result == -ECANCELED)
		desc_end(&r->move.use);
	tell(r->cb, call->result);
	notify(&r->how);
	group_put(r->group);
	request_let_go(r, true);
	if (sync)
		submit(sync);
}

/* ---- start ---- */

static int64_t transfer(struct aio_call *call)
{
	struct request *r = container_of(call, struct request, call);

	return move_alone(&r->move, r->off);
}

static struct request *request_new(struct aiocb *cb, struct group *group,
				   int64_t (*run)(struct aio_call *call))
{
	struct requests *all = get();
	struct request *r = all ? calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return NULL;
	r->all = all;
	r->cb = cb;
	r->how = cb->aio_sigevent;
	r->group = group;
	r->call.run = run;
	r->call.done = ended;
	return r;
}

static void enlist(struct request *r)
{
	tell(r->cb, -EINPROGRESS);
	if (r->group)
		group_get(r->group);
	r->number = ++r->all->begun;
	LIST_INSERT_HEAD(&r->all->under_way, r, link);
}

/* False: libc executes or rejects the request. */
static bool is_simple(const struct aiocb *cb)
{
	return cb->aio_offset >= 0 && cb->aio_reqprio >= 0 &&
	       cb->aio_reqprio <= sysconf(_SC_AIO_PRIO_DELTA_MAX);
}

static bool appends_by_libc(const struct move *m)
{
	return m->write && m->use.flags & O_APPEND &&
	       atomic_load_explicit(&number_appended[m->use.fd],
				    memory_order_relaxed);
}

bool request_begin(struct aiocb *cb, bool write, struct group *group)
{
	struct request *r;

	if (!is_simple(cb) || !number_may(cb->aio_fildes, cb->aio_nbytes))
		return false;
	r = request_new(cb, group, transfer);
	if (!r)
		return false;
	r->iov = (struct iovec){ (void *)(uintptr_t)cb->aio_buf,
				 cb->aio_nbytes };
	r->off = cb->aio_offset;
	if (!move_take(&r->move, cb->aio_fildes, write, &r->iov, 1)) {
		free(r);
		return false;
	}
	self_enter();
	if (appends_by_libc(&r->move)) {
		desc_end(&r->move.use);
		free(r);
		self_leave();
		return false;
	}
	pthread_mutex_lock(&r->all->lock);
	enlist(r);
	pthread_mutex_unlock(&r->all->lock);
	submit(r);
	self_leave();
	return true;
}

/* ---- fsync ---- */

/* libc waits for writes that went through the mount. */
static int sync_rest(void *arg)
{
	struct request *r = arg;
	struct aiocb cb = { .aio_fildes = r->move.use.fd };
	const struct aiocb *const list[] = { &cb };

	cb.aio_sigevent.sigev_notify = SIGEV_NONE;
	if (next.aio_fsync(r->op, &cb))
		return -errno;
	while (aio_error(&cb) == EINPROGRESS)
		next.aio_suspend(list, 1, NULL);
	return -aio_error(&cb);
}

static int look_again(void *arg)
{
	struct request *r = arg;

	wrote_look(r->move.use.fd, &r->move.use);
	return 0;
}

static int64_t sync_it(struct aio_call *call)
{
	struct request *r = container_of(call, struct request, call);
	int rc = coroutine_aside(sync_rest, r);

	if (!rc)
		rc = desc_owes(&r->move.use);
	if (!r->move.use.f)
		coroutine_aside(look_again, r);
	if (r->move.use.f)
		rc = wrote_sync(&r->move.use, rc);
	desc_end(&r->move.use);
	return rc;
}

/* Called with the lock.  Counts the requests of fd in flight. */
static unsigned int before(const struct requests *all, int fd)
{
	const struct request *r;
	unsigned int n = 0;

	LIST_FOREACH(r, &all->under_way, link)
		n += r->move.use.fd == fd;
	return n;
}

bool request_sync(struct aiocb *cb, int op)
{
	struct request *r;
	bool now;

	if (!number_is_ours(cb->aio_fildes) && !wrote_is(cb->aio_fildes))
		return false;
	r = request_new(cb, NULL, sync_it);
	if (!r)
		return false;
	self_enter();
	desc_look(cb->aio_fildes, &r->move.use);
	r->op = op;
	pthread_mutex_lock(&r->all->lock);
	r->behind = before(r->all, cb->aio_fildes);
	now = !r->behind;
	r->all->behind += !now;
	enlist(r);
	pthread_mutex_unlock(&r->all->lock);
	if (now)
		submit(r);
	self_leave();
	return true;
}

/* ---- queries and waiting ---- */

static struct request *find(const struct requests *all, const struct aiocb *cb)
{
	struct request *r;

	LIST_FOREACH(r, &all->under_way, link)
		if (r->cb == cb)
			return r;
	return NULL;
}

bool request_is_ours(const struct aiocb *cb)
{
	struct requests *all = requests_there();
	bool is;

	if (!all)
		return false;
	self_enter();
	pthread_mutex_lock(&all->lock);
	is = find(all, cb);
	pthread_mutex_unlock(&all->lock);
	self_leave();
	return is;
}

bool requests_any(void)
{
	struct requests *all = requests_there();
	bool any;

	if (!all)
		return false;
	self_enter();
	pthread_mutex_lock(&all->lock);
	any = !LIST_EMPTY(&all->under_way);
	pthread_mutex_unlock(&all->lock);
	self_leave();
	return any;
}

bool requests_wait(uint64_t until)
{
	struct requests *all = requests_there();
	struct aio_calls none = STAILQ_HEAD_INITIALIZER(none);
	int saved = errno;
	bool interrupted;

	if (!all)
		return true;
	self_enter();
	aio_queue_wait(all->queue, &none, 0, 1, until);
	interrupted = signals_held;
	errno = saved;
	self_leave();
	return interrupted;
}

static bool any_of(int fd)
{
	struct requests *all = requests_there();
	bool any;

	if (!all)
		return false;
	self_enter();
	pthread_mutex_lock(&all->lock);
	any = before(all, fd);
	pthread_mutex_unlock(&all->lock);
	self_leave();
	return any;
}

void requests_settle_of(int fd)
{
	while (any_of(fd))
		requests_wait(clock_after_ms(SETTLE_MS));
}

void requests_settle(void)
{
	uint64_t end = clock_after_ms(SETTLE_MS);

	while (requests_any() && clock_now() < end)
		requests_wait(end);
}
