/* SPDX-License-Identifier: BSD-2-Clause */
/* listen.c - see listen.h. */
#include "client/fuse/hear/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "client/fuse/hear/alert.h"
#include "common/util/clock.h"
#include "common/util/container.h"
#include "client/fuse/hear/errands.h"
#include "common/util/watched_descriptor.h"
#include "common/util/quiet_thread.h"
#include "client/lib/session/coroutine.h"

struct listener {
	struct fuse_session *se;
	struct fs *fs;
	int fd; /* /dev/fuse */
	int end; /* eventfd, readable once serving ends */
	struct alert alert; /* of the thread that listens */
	struct errands *errands; /* started by threads that listened */

	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t vacant, looked, ended;
	/* the thread that listens, or that serves what it read */
	struct ear *ear;
	unsigned int threads, most;
	unsigned int idle;
	uint64_t steps; /* turns and requests; odd: a request is being served */
	/* an idle thread watches; it sleeps until a request is read */
	bool watched, resting;
	bool stop;
	int error;
};

/* A thread. */
struct ear {
	struct watched_descriptor watched;
	struct listener *listener;
	bool idle; /* counted in listener.idle */
	struct fuse_buf buf;
	bool crowded, is_long; /* about the request that it read; see alert.h */
	struct drive *batch; /* drive with errands to be sent; or NULL */
};

static void *ear_main(void *arg);

/* ---- whose turn it is: called with the lock ---- */

static void add_thread(struct listener *l)
{
	if (l->threads >= l->most || l->stop)
		return;
	if (quiet_thread(0, ear_main, l, NULL))
		return;
	l->threads++;
	l->idle++;
}

static void vacate(struct listener *l)
{
	l->ear = NULL;
	if (l->idle > l->watched)
		pthread_cond_signal(&l->vacant);
	else
		pthread_cond_signal(&l->looked);
}

static void set_idle(struct ear *e, bool idle)
{
	if (idle == e->idle)
		return;
	e->idle = idle;
	e->listener->idle += idle ? 1 : -1u;
}

/* Ensures that there is an idle thread, which can take over. */
static void take(struct listener *l, struct ear *e)
{
	set_idle(e, false);
	l->ear = e;
	l->steps = (l->steps | 1) + 1;
	if (!l->idle)
		add_thread(l);
	else if (!l->watched)
		pthread_cond_signal(&l->vacant);
}

/*
 * Waits until the listening thread makes progress, or for LISTEN_LOOK_MS.  If that
 * thread serves one request for so long, its turn is free.  If no request came, waits
 * until one is read (heard()).
 */
static void look(struct listener *l)
{
	struct timespec at = clock_timespec(clock_after_ms(LISTEN_LOOK_MS));
	uint64_t before = l->steps;
	bool late;

	late = pthread_cond_clockwait(&l->looked, &l->lock, CLOCK_MONOTONIC,
				      &at) == ETIMEDOUT;
	if (!late || l->steps != before || !l->ear || l->stop)
		return;
	if (before & 1) {
		l->ear = NULL;
		return;
	}
	l->resting = true;
	pthread_cond_wait(&l->looked, &l->lock);
	l->resting = false;
}

static void wait_idle(struct listener *l)
{
	if (l->watched) {
		pthread_cond_wait(&l->vacant, &l->lock);
		return;
	}
	l->watched = true;
	look(l);
	l->watched = false;
}

/* False: serving ends. */
static bool take_turn(struct ear *e)
{
	struct listener *l = e->listener;
	bool go;

	pthread_mutex_lock(&l->lock);
	set_idle(e, l->ear != e);
	while (l->ear && l->ear != e && !l->stop)
		wait_idle(l);
	go = !l->stop;
	if (go)
		take(l, e);
	pthread_mutex_unlock(&l->lock);
	return go;
}

static void heard(struct ear *e)
{
	struct listener *l = e->listener;

	pthread_mutex_lock(&l->lock);
	l->steps++;
	if (l->resting)
		pthread_cond_signal(&l->looked);
	l->resting = false;
	pthread_mutex_unlock(&l->lock);
}

static void leave_turn(struct watched_descriptor *watched)
{
	struct ear *e = container_of(watched, struct ear, watched);
	struct listener *l = e->listener;

	pthread_mutex_lock(&l->lock);
	if (l->ear == e)
		vacate(l);
	pthread_mutex_unlock(&l->lock);
}

void listen_share(void)
{
	struct pollfd fd = { .fd = watched_descriptor_fd(), .events = POLLIN };

	if (fd.fd >= 0 && poll(&fd, 1, 0) > 0)
		watched_descriptor_hand_over();
}

/* ---- reading requests ---- */

static void doze(const struct listener *l)
{
	const int fd[] = { l->fd, l->end };

	if (!errands_doze(l->errands, fd, 2,
			  fs_has_late_requests(l->fs) ? LISTEN_LAG_MS : -1))
		fs_send_late_requests(l->fs);
}

static void send_begun(struct ear *e)
{
	drive_kick_put(e->batch);
	e->batch = NULL;
}

static void note(struct ear *e, size_t len)
{
	struct alert *alert = &e->listener->alert;

	alert_end(alert, e->buf.mem, len);
	e->crowded = alert->crowded;
	e->is_long = alert->was_long;
}

/* Returns the bytes of a request; 0: serving ends; -errno. */
static int hear(struct ear *e)
{
	struct listener *l = e->listener;
	int n;

	alert_begin(&l->alert);
	while (!fuse_session_exited(l->se)) {
		n = fuse_session_receive_buf(l->se, &e->buf);
		if (n > 0)
			note(e, (size_t)n);
		if (n != -EAGAIN && n != -EINTR)
			return n;
		send_begun(e);
		if (!errands_away(l->errands) && alert_again(&l->alert))
			sched_yield();
		else
			doze(l);
	}
	return 0;
}

static void finish(struct listener *l, int rc)
{
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	if (rc < 0 && !l->error)
		l->error = rc;
	pthread_cond_broadcast(&l->vacant);
	pthread_cond_broadcast(&l->looked);
	pthread_mutex_unlock(&l->lock);
	eventfd_write(l->end, 1);
}

/* A long transfer must not delay the replies to errands. */
static void carry_out(struct ear *e)
{
	struct listener *l = e->listener;

	if (e->crowded && errands_begin(l->errands, &e->buf, &e->batch))
		return;
	send_begun(e);
	if (e->is_long && errands_away(l->errands))
		leave_turn(&e->watched);
	else
		watched_descriptor_set(&e->watched);
	fuse_session_process_buf(l->se, &e->buf);
	watched_descriptor_set(NULL);
}

static void listen_on(struct ear *e)
{
	struct listener *l = e->listener;
	int n;

	while (take_turn(e)) {
		n = hear(e);
		if (n <= 0) {
			finish(l, n);
			return;
		}
		heard(e);
		carry_out(e);
	}
}

static void *ear_main(void *arg)
{
	struct listener *l = arg;
	struct ear e = { .listener = l,
			 .idle = true,
			 .watched = { .fd = l->fd, .hand_over = leave_turn } };

	listen_on(&e);
	send_begun(&e);
	free(e.buf.mem);
	pthread_mutex_lock(&l->lock);
	l->threads--;
	pthread_cond_signal(&l->ended);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

/* ---- start and end ---- */

/* The signals that end serving are delivered to this thread, and only here. */
static void wait_end(struct listener *l)
{
	struct pollfd fd = { .fd = l->end, .events = POLLIN };
	sigset_t ends, before;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	while (!fuse_session_exited(l->se) && !fd.revents)
		ppoll(&fd, 1, NULL, &before);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int begin(struct listener *l)
{
	int flags = fcntl(l->fd, F_GETFL), rc;

	if (flags < 0 || fcntl(l->fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	pthread_mutex_lock(&l->lock);
	add_thread(l);
	rc = l->threads ? 0 : -EAGAIN;
	pthread_mutex_unlock(&l->lock);
	return rc;
}

static void join_all(struct listener *l)
{
	pthread_mutex_lock(&l->lock);
	while (l->threads)
		pthread_cond_wait(&l->ended, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

static int serve(struct listener *l)
{
	int rc = begin(l);

	if (rc)
		return rc;
	wait_end(l);
	finish(l, 0);
	join_all(l);
	return l->error;
}

int listen_run(struct fuse_session *se, struct fs *fs, unsigned int threads)
{
	struct listener l = { .se = se,
			      .fs = fs,
			      .fd = fuse_session_fd(se),
			      .most = threads,
			      .lock = PTHREAD_MUTEX_INITIALIZER,
			      .vacant = PTHREAD_COND_INITIALIZER,
			      .looked = PTHREAD_COND_INITIALIZER,
			      .ended = PTHREAD_COND_INITIALIZER };
	int rc;

	l.end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l.end < 0)
		return -errno;
	alert_init(&l.alert);
	rc = errands_new(se, fs, threads, &l.errands);
	if (!rc) {
		rc = serve(&l);
		errands_free(l.errands);
	}
	close(l.end);
	return rc;
}
