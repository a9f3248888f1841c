/* SPDX-License-Identifier: BSD-2-Clause */
/* listener.c - see listener.h. */
#include "client/fuse/threads/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "client/fuse/threads/async_requests.h"
#include "client/fuse/threads/poll_policy.h"
#include "client/lib/session/coroutine.h"
#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/util/quiet_thread.h"
#include "common/util/watched_descriptor.h"

struct listener {
	struct fuse_session *se;
	struct fs *fs;
	int fd; /* /dev/fuse */
	int end; /* eventfd, readable once serving ends */
	struct poll_policy poll; /* of the thread that listens */
	struct async_requests *async; /* started by threads that listened */

	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t turn_free, progress, ended;
	/* the thread that listens, or that serves what it read */
	struct fuse_thread *listening;
	unsigned int threads, most;
	unsigned int idle;
	uint64_t steps; /* turns and requests; odd: a request is being served */
	/* an idle thread watches; it sleeps until a request is read */
	bool watched, resting;
	bool stop;
	int error;
};

/* A thread. */
struct fuse_thread {
	struct watched_descriptor watched;
	struct listener *listener;
	bool idle; /* counted in listener.idle */
	struct fuse_buf buf;
	bool crowded,
		is_long; /* about the request that it read; see poll_policy.h */
	struct drive *batch; /* drive with requests to be sent; or NULL */
};

static void *fuse_thread_main(void *arg);

/* ---- whose turn it is: called with the lock ---- */

static void add_thread(struct listener *l)
{
	if (l->threads >= l->most || l->stop)
		return;
	if (quiet_thread(0, fuse_thread_main, l, NULL))
		return;
	l->threads++;
	l->idle++;
}

static void free_turn(struct listener *l)
{
	l->listening = NULL;
	if (l->idle > l->watched)
		pthread_cond_signal(&l->turn_free);
	else
		pthread_cond_signal(&l->progress);
}

static void set_idle(struct fuse_thread *t, bool idle)
{
	if (idle == t->idle)
		return;
	t->idle = idle;
	t->listener->idle += idle ? 1 : -1u;
}

/* Ensures that there is an idle thread, which can take over. */
static void become_listener(struct listener *l, struct fuse_thread *t)
{
	set_idle(t, false);
	l->listening = t;
	l->steps = (l->steps | 1) + 1;
	if (!l->idle)
		add_thread(l);
	else if (!l->watched)
		pthread_cond_signal(&l->turn_free);
}

/*
 * Waits until the listening thread makes progress, or for LISTENER_STALL_MS.  If that thread
 * has served one request for so long, another thread may listen.  If no request arrived,
 * waits until one is read (note_request_read()).
 */
static void watch_listener(struct listener *l)
{
	struct timespec at = clock_timespec(clock_after_ms(LISTENER_STALL_MS));
	uint64_t before = l->steps;
	bool late;

	late = pthread_cond_clockwait(&l->progress, &l->lock, CLOCK_MONOTONIC,
				      &at) == ETIMEDOUT;
	if (!late || l->steps != before || !l->listening || l->stop)
		return;
	if (before & 1) {
		l->listening = NULL;
		return;
	}
	l->resting = true;
	pthread_cond_wait(&l->progress, &l->lock);
	l->resting = false;
}

static void wait_idle(struct listener *l)
{
	if (l->watched) {
		pthread_cond_wait(&l->turn_free, &l->lock);
		return;
	}
	l->watched = true;
	watch_listener(l);
	l->watched = false;
}

/* Waits until this thread is the listener.  Returns false if the daemon stops serving. */
static bool take_turn(struct fuse_thread *t)
{
	struct listener *l = t->listener;
	bool go;

	pthread_mutex_lock(&l->lock);
	set_idle(t, l->listening != t);
	while (l->listening && l->listening != t && !l->stop)
		wait_idle(l);
	go = !l->stop;
	if (go)
		become_listener(l, t);
	pthread_mutex_unlock(&l->lock);
	return go;
}

static void note_request_read(struct fuse_thread *t)
{
	struct listener *l = t->listener;

	pthread_mutex_lock(&l->lock);
	l->steps++;
	if (l->resting)
		pthread_cond_signal(&l->progress);
	l->resting = false;
	pthread_mutex_unlock(&l->lock);
}

static void leave_turn(struct watched_descriptor *watched)
{
	struct fuse_thread *t = container_of(watched, struct fuse_thread,
					     watched);
	struct listener *l = t->listener;

	pthread_mutex_lock(&l->lock);
	if (l->listening == t)
		free_turn(l);
	pthread_mutex_unlock(&l->lock);
}

void listener_hand_over(void)
{
	struct pollfd fd = { .fd = watched_descriptor_fd(), .events = POLLIN };

	if (fd.fd >= 0 && poll(&fd, 1, 0) > 0)
		watched_descriptor_hand_over();
}

/* ---- reading requests ---- */

static void wait_for_request(const struct listener *l)
{
	const int fd[] = { l->fd, l->end };

	if (!async_requests_wait(l->async, fd, 2,
				 fs_has_late_requests(l->fs) ? LISTENER_IDLE_MS
							     : -1))
		fs_send_late_requests(l->fs);
}

static void send_started(struct fuse_thread *t)
{
	drive_kick_put(t->batch);
	t->batch = NULL;
}

static void classify_request(struct fuse_thread *t, size_t len)
{
	struct poll_policy *poll = &t->listener->poll;

	poll_policy_wait_end(poll, t->buf.mem, len);
	t->crowded = poll->crowded;
	t->is_long = poll->was_long;
}

/* Returns the bytes of a request; 0: serving ends; -errno. */
static int read_request(struct fuse_thread *t)
{
	struct listener *l = t->listener;
	int n;

	poll_policy_wait_start(&l->poll);
	while (!fuse_session_exited(l->se)) {
		n = fuse_session_receive_buf(l->se, &t->buf);
		if (n > 0)
			classify_request(t, (size_t)n);
		if (n != -EAGAIN && n != -EINTR)
			return n;
		send_started(t);
		if (!async_requests_running(l->async) &&
		    poll_policy_poll_again(&l->poll))
			sched_yield();
		else
			wait_for_request(l);
	}
	return 0;
}

static void stop_serving(struct listener *l, int rc)
{
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	if (rc < 0 && !l->error)
		l->error = rc;
	pthread_cond_broadcast(&l->turn_free);
	pthread_cond_broadcast(&l->progress);
	pthread_mutex_unlock(&l->lock);
	eventfd_write(l->end, 1);
}

/* A long transfer must not delay the replies to asynchronous requests. */
static void serve_request(struct fuse_thread *t)
{
	struct listener *l = t->listener;

	if (t->crowded && async_requests_start(l->async, &t->buf, &t->batch))
		return;
	send_started(t);
	if (t->is_long && async_requests_running(l->async))
		leave_turn(&t->watched);
	else
		watched_descriptor_set(&t->watched);
	fuse_session_process_buf(l->se, &t->buf);
	watched_descriptor_set(NULL);
}

static void thread_loop(struct fuse_thread *t)
{
	struct listener *l = t->listener;
	int n;

	while (take_turn(t)) {
		n = read_request(t);
		if (n <= 0) {
			stop_serving(l, n);
			return;
		}
		note_request_read(t);
		serve_request(t);
	}
}

static void *fuse_thread_main(void *arg)
{
	struct listener *l = arg;
	struct fuse_thread t = { .listener = l,
				 .idle = true,
				 .watched = { .fd = l->fd,
					      .hand_over = leave_turn } };

	thread_loop(&t);
	send_started(&t);
	free(t.buf.mem);
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

static int start_first_thread(struct listener *l)
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

static int serve_until_end(struct listener *l)
{
	int rc = start_first_thread(l);

	if (rc)
		return rc;
	wait_end(l);
	stop_serving(l, 0);
	join_all(l);
	return l->error;
}

int listener_run(struct fuse_session *se, struct fs *fs, unsigned int threads)
{
	struct listener l = { .se = se,
			      .fs = fs,
			      .fd = fuse_session_fd(se),
			      .most = threads,
			      .lock = PTHREAD_MUTEX_INITIALIZER,
			      .turn_free = PTHREAD_COND_INITIALIZER,
			      .progress = PTHREAD_COND_INITIALIZER,
			      .ended = PTHREAD_COND_INITIALIZER };
	int rc;

	l.end = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l.end < 0)
		return -errno;
	poll_policy_init(&l.poll);
	rc = async_requests_new(se, fs, threads, &l.async);
	if (!rc) {
		rc = serve_until_end(&l);
		async_requests_free(l.async);
	}
	close(l.end);
	return rc;
}
