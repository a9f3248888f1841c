/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_guest.c - peers that may access our memory directly. Each has a busy word that is odd
 * during an access, and publishes the keys it uses. A deregistration waits for the accesses that
 * were running when it began. A guest outlives its connection if an access was running at its end.
 */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/transport/local/memory/local_dev.h"

#define SOON 1000 /* yields before the wait checks whether the peer is alive */
#define LONG_MS 1000u /* after this time the wait is logged */

struct local_guest {
	TAILQ_ENTRY(local_guest) link;
	uint64_t id;
	const struct local_side *side; /* of the peer */
	int fd; /* the connection's socket */
	bool detached; /* the connection ended: the guest owns shm and fd */
	uid_t uid;
	struct local_shm shm;
	char peer[SOCK_PEER_LEN];
};

/*
 * Whether to let the peer access our memory. A process with our user id could do so anyway. Servers
 * that we connected to are trusted (local_connect.c). In any case the kernel also checks whether
 * the peer may access our memory.
 */
bool local_guest_allowed(struct local_dev *dev, const struct tp_identity *id)
{
	return !dev->no_reach && dev->mrs.fd >= 0 &&
	       (id->uid == geteuid() || id->uid == 0 || id->uid == dev->owner);
}

static bool is_busy(const struct local_guest *g)
{
	return atomic_load(&g->side->busy) & 1;
}

/* The socket ends with the process, after the process's copies have ended. */
static bool is_gone(const struct local_guest *g)
{
	struct pollfd pfd = { .fd = g->fd, .events = POLLRDHUP };

	return poll(&pfd, 1, 0) == 1 &&
	       (pfd.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* The caller holds the lock. */
static void guest_free(struct local_dev *dev, struct local_guest *g)
{
	const struct local_giver from = local_giver(&dev->dev, g->uid);

	TAILQ_REMOVE(&dev->guests, g, link);
	if (g->detached) {
		local_sock_close(&from, g->fd);
		local_shm_unmap(&g->shm);
	}
	free(g);
}

void local_guests_free(struct local_dev *dev)
{
	struct local_guest *g;

	while ((g = TAILQ_FIRST(&dev->guests)))
		guest_free(dev, g);
}

/* Frees guests whose last access ended after their connection. The caller holds the lock. */
static void free_finished(struct local_dev *dev)
{
	struct local_guest *g, *next;

	for (g = TAILQ_FIRST(&dev->guests); g; g = next) {
		next = TAILQ_NEXT(g, link);
		if (g->detached && (!is_busy(g) || is_gone(g)))
			guest_free(dev, g);
	}
}

struct local_guest *local_guest_new(struct local_dev *dev,
				    const struct local_side *side, int fd,
				    uid_t uid, const char *peer)
{
	struct local_guest *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->side = side;
	g->fd = fd;
	g->uid = uid;
	snprintf(g->peer, sizeof(g->peer), "%s", peer);
	pthread_mutex_lock(&dev->lock);
	free_finished(dev);
	g->id = dev->next_guest++;
	TAILQ_INSERT_TAIL(&dev->guests, g, link);
	pthread_mutex_unlock(&dev->lock);
	return g;
}

bool local_guest_end(struct local_dev *dev, struct local_guest *g,
		     struct local_shm *shm)
{
	bool stays;

	pthread_mutex_lock(&dev->lock);
	free_finished(dev);
	stays = is_busy(g) && atomic_load(&dev->mrs.open) && !is_gone(g);
	if (stays) {
		g->detached = true;
		g->shm = *shm;
		memset(shm, 0, sizeof(*shm));
		shutdown(g->fd, SHUT_WR);
	} else {
		guest_free(dev, g);
	}
	pthread_mutex_unlock(&dev->lock);
	return stays;
}

/*
 * Whether the guest is accessing memory with this key. If its busy word later differs from *busy,
 * the access has finished.
 */
static bool is_inside(const struct local_guest *g, uint32_t key, uint32_t *busy)
{
	uint32_t n, i;

	*busy = atomic_load(&g->side->busy);
	if (!(*busy & 1))
		return false;
	n = atomic_load(&g->side->nkeys);
	for (i = 0; i < n && i < LOCAL_KEYS; i++)
		if (atomic_load(&g->side->key[i]) == key)
			return true;
	return false;
}

/* Finds the first guest from id on that is accessing memory with this key.  Sets *id and *busy. */
static bool find_inside(struct local_dev *dev, uint32_t key, uint64_t *id,
			uint32_t *busy)
{
	struct local_guest *g;

	pthread_mutex_lock(&dev->lock);
	TAILQ_FOREACH(g, &dev->guests, link)
		if (g->id >= *id && is_inside(g, key, busy))
			break;
	if (g)
		*id = g->id;
	pthread_mutex_unlock(&dev->lock);
	return g;
}

static bool still_inside(struct local_dev *dev, uint64_t id, uint32_t busy,
			 bool look)
{
	struct local_guest *g;
	bool still = false;

	pthread_mutex_lock(&dev->lock);
	TAILQ_FOREACH(g, &dev->guests, link)
		if (g->id == id)
			still = atomic_load(&g->side->busy) == busy &&
				!(look && is_gone(g));
	pthread_mutex_unlock(&dev->lock);
	return still;
}

static void log_stopped(struct local_dev *dev, uint64_t id)
{
	const struct local_guest *g;

	pthread_mutex_lock(&dev->lock);
	TAILQ_FOREACH(g, &dev->guests, link)
		if (g->id == id)
			log_warn(dev->dev.log,
				 "%s: is stopped while it accesses memory of a "
				 "call; the call returns when that process "
				 "continues (SIGCONT) or ends",
				 g->peer);
	pthread_mutex_unlock(&dev->lock);
}

/*
 * Waits until the access of guest id has finished.  A copy takes less than a millisecond, unless
 * its process is stopped.
 */
static void wait_for(struct local_dev *dev, uint64_t id, uint32_t busy)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	uint64_t late = clock_after_ms(LONG_MS);
	int i;

	for (i = 0; still_inside(dev, id, busy, i >= SOON); i++) {
		if (i < SOON) {
			sched_yield();
			continue;
		}
		if (clock_now() > late) {
			log_stopped(dev, id);
			late = CLOCK_NEVER;
		}
		nanosleep(&ms, NULL);
	}
}

void local_guests_wait(struct local_dev *dev, uint32_t key)
{
	uint64_t id = 0;
	uint32_t busy;

	while (find_inside(dev, key, &id, &busy)) {
		wait_for(dev, id, busy);
		id++;
	}
}
