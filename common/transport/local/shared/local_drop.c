/* SPDX-License-Identifier: BSD-2-Clause */
/* local_drop.c - see local_drop.h. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/transport/local/shared/local_drop.h"
#include "common/transport/local/shared/local_shm.h"
#include "common/util/quiet_thread.h"

/* sanitizers need more than the minimum */
#define STACK (PTHREAD_STACK_MIN + (64u << 10))

struct dropped_fd {
	STAILQ_ENTRY(dropped_fd) link;
	int fd;
};

/* Exists while descriptors of this user wait, or while one is being closed. */
struct user {
	TAILQ_ENTRY(user) link;
	uid_t uid;
	unsigned int n;
	bool closing; /* a thread is closing one of its descriptors */
	STAILQ_HEAD(, dropped_fd) list; /* oldest first */
};

/* Shared by the device and its threads; the last one frees it. */
struct local_drops {
	pthread_mutex_t lock;
	TAILQ_HEAD(, user) users;
	unsigned int threads;
	bool starting; /* the newest thread has not started yet */
	bool abandoned; /* the device has left: local_drops_leave() */
};

struct local_drops *local_drops_new(void)
{
	struct local_drops *drops = calloc(1, sizeof(*drops));

	if (!drops)
		return NULL;
	pthread_mutex_init(&drops->lock, NULL);
	TAILQ_INIT(&drops->users);
	return drops;
}

/* Releases the lock, and frees drops after its last user. */
static void unlock_or_free(struct local_drops *drops)
{
	bool last = drops->abandoned && !drops->threads;

	pthread_mutex_unlock(&drops->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&drops->lock);
	free(drops);
}

void local_drops_leave(struct local_drops *drops)
{
	pthread_mutex_lock(&drops->lock);
	drops->abandoned = true;
	unlock_or_free(drops);
}

static struct user *find_user(const struct local_drops *drops, uid_t uid)
{
	struct user *u;

	TAILQ_FOREACH(u, &drops->users, link)
		if (u->uid == uid)
			break;
	return u;
}

bool local_drops_full(const struct local_giver *from)
{
	const struct user *u;
	bool full;

	pthread_mutex_lock(&from->drops->lock);
	u = find_user(from->drops, from->uid);
	full = u && u->n >= LOCAL_DROPS_MAX;
	pthread_mutex_unlock(&from->drops->lock);
	return full;
}

static struct user *next_user(const struct local_drops *drops)
{
	struct user *u;

	TAILQ_FOREACH(u, &drops->users, link)
		if (!u->closing)
			break;
	return u;
}

/* Moves u to the end of the list, or frees it: its next descriptor waits for other users' ones. */
static void step_back(struct local_drops *drops, struct user *u)
{
	TAILQ_REMOVE(&drops->users, u, link);
	if (u->n)
		TAILQ_INSERT_TAIL(&drops->users, u, link);
	else
		free(u);
}

static struct user *find_or_add(struct local_drops *drops, uid_t uid)
{
	struct user *u = find_user(drops, uid);

	if (u)
		return u;
	u = calloc(1, sizeof(*u));
	if (!u)
		return NULL;
	u->uid = uid;
	STAILQ_INIT(&u->list);
	TAILQ_INSERT_TAIL(&drops->users, u, link);
	return u;
}

static void *close_all(void *arg);

/* Starts one thread at a time; the next one starts only when this one has begun to work. */
static void start_thread(struct local_drops *drops)
{
	if (drops->starting || drops->threads == LOCAL_DROPPERS ||
	    !next_user(drops))
		return;
	drops->starting = !quiet_thread(STACK, close_all, drops, NULL);
	drops->threads += drops->starting;
}

/* Closes the oldest descriptor of u; releases the lock meanwhile. */
static void close_one(struct local_drops *drops, struct user *u)
{
	struct dropped_fd *d = STAILQ_FIRST(&u->list);

	STAILQ_REMOVE_HEAD(&u->list, link);
	u->closing = true;
	start_thread(drops);
	pthread_mutex_unlock(&drops->lock);
	close(d->fd);
	free(d);
	pthread_mutex_lock(&drops->lock);
	u->closing = false;
	u->n--;
	step_back(drops, u);
}

static void *close_all(void *arg)
{
	struct local_drops *drops = arg;
	struct user *u;

	pthread_mutex_lock(&drops->lock);
	drops->starting = false;
	while ((u = next_user(drops)))
		close_one(drops, u);
	drops->threads--;
	unlock_or_free(drops);
	return NULL;
}

/*
 * Queues the descriptor for a thread that closes it.  Returns false if there is no thread; then no
 * descriptor of the user is queued.
 */
static bool queue_drop(struct local_drops *drops, struct user *u,
		       struct dropped_fd *d)
{
	start_thread(drops);
	if (!drops->threads) {
		step_back(drops, u);
		return false;
	}
	STAILQ_INSERT_TAIL(&u->list, d, link);
	u->n++;
	return true;
}

static bool hand_over(const struct local_giver *from, int fd)
{
	struct local_drops *drops = from->drops;
	struct dropped_fd *d = malloc(sizeof(*d));
	struct user *u;
	bool taken;

	if (!d)
		return false;
	d->fd = fd;
	pthread_mutex_lock(&drops->lock);
	u = find_or_add(drops, from->uid);
	taken = u && queue_drop(drops, u, d);
	pthread_mutex_unlock(&drops->lock);
	if (!taken)
		free(d);
	return taken;
}

/*
 * Closes a descriptor from a peer. Closing a small memory file cannot block, and a peer should send
 * only these and a wake-up socket. Closing a socket also closes the unread descriptors in it, which
 * may block, so another thread does it.
 */
void local_drop(const struct local_giver *from, int fd)
{
	if (local_memfd_is_small(fd) || !hand_over(from, fd))
		close(fd);
}

#define UNREAD 256u /* bytes; at most a quarter as many bells can be unread */

/* Peeks at received bytes, up to len. -EPROTO: they carry descriptors. */
static ssize_t peek_socket(int fd, void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = recvmsg(fd, &msg, MSG_PEEK | MSG_DONTWAIT);

	return n > 0 && (msg.msg_flags & MSG_CTRUNC) ? -EPROTO : n;
}

/* After shutdown() nothing more can arrive. */
void local_sock_close(const struct local_giver *from, int fd)
{
	char buf[UNREAD];
	ssize_t n;

	shutdown(fd, SHUT_RDWR);
	n = peek_socket(fd, buf, sizeof(buf));
	if (n == -EPROTO || n == (ssize_t)sizeof(buf))
		local_drop(from, fd);
	else
		close(fd);
}
