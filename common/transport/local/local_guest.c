/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_guest.c - peers that may reach into our memory.  Each has a busy word
 * that is odd while it is inside; a deregistration waits for those that were
 * when it began.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "local.h"

#define SOON 1000 /* yields before the wait looks whether the peer lives */

/*
 * Who has our user id could do it anyway; servers that we connected to are
 * trusted (local_connect.c), and the kernel asks for its own permission.
 */
bool local_guest_allowed(struct local_dev *dev, const struct tp_identity *id)
{
	return !dev->no_reach && dev->mrs.fd >= 0 &&
	       (id->uid == geteuid() || id->uid == 0 || id->uid == dev->owner);
}

void local_guest_admit(struct local_ep *ep)
{
	struct local_dev *dev = local_dev(ep->ep.dev);

	if (!local_guest_allowed(dev, &ep->id))
		return;
	pthread_mutex_lock(&dev->lock);
	ep->guest = true;
	ep->own = ep->id.uid == geteuid();
	ep->guest_id = dev->next_guest++;
	TAILQ_INSERT_TAIL(&dev->guests, ep, guest_link);
	pthread_mutex_unlock(&dev->lock);
	atomic_store(&ep->out.me->probe, (uintptr_t)ep->nonce);
}

void local_guest_leave(struct local_ep *ep)
{
	struct local_dev *dev = local_dev(ep->ep.dev);

	if (!ep->guest)
		return;
	pthread_mutex_lock(&dev->lock);
	TAILQ_REMOVE(&dev->guests, ep, guest_link);
	ep->guest = false;
	pthread_mutex_unlock(&dev->lock);
}

/* Its socket ends with its process, which ends its copies first. */
static bool is_gone(const struct local_ep *ep)
{
	struct pollfd pfd = { .fd = ep->fd, .events = POLLRDHUP };

	return poll(&pfd, 1, 0) == 1 &&
	       (pfd.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* The first guest from id on that is inside: its id and busy word. */
static bool find_busy(struct local_dev *dev, uint64_t *id, uint32_t *busy)
{
	struct local_ep *ep;
	bool found = false;

	pthread_mutex_lock(&dev->lock);
	TAILQ_FOREACH(ep, &dev->guests, guest_link) {
		if (ep->guest_id < *id)
			continue;
		*busy = atomic_load(&ep->in.peer->busy);
		found = *busy & 1;
		if (!found)
			continue;
		*id = ep->guest_id;
		break;
	}
	pthread_mutex_unlock(&dev->lock);
	return found;
}

static bool still_busy(struct local_dev *dev, uint64_t id, uint32_t busy,
		       bool look)
{
	struct local_ep *ep;
	bool still = false;

	pthread_mutex_lock(&dev->lock);
	TAILQ_FOREACH(ep, &dev->guests, guest_link)
		if (ep->guest_id == id)
			still = atomic_load(&ep->in.peer->busy) == busy &&
				!(look && is_gone(ep));
	pthread_mutex_unlock(&dev->lock);
	return still;
}

/* A copy takes a fraction of a millisecond, unless its process is stopped. */
static void wait_for(struct local_dev *dev, uint64_t id, uint32_t busy)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	uint64_t until = clock_after_ms(dev->dead_peer_ms);
	int i;

	for (i = 0; still_busy(dev, id, busy, i >= SOON); i++) {
		if (i < SOON) {
			sched_yield();
			continue;
		}
		if (clock_now() > until) {
			log_error(dev->dev.log,
				  "local: a peer stands still inside of our "
				  "memory; not waiting for it any longer");
			return;
		}
		nanosleep(&ms, NULL);
	}
}

void local_guests_wait(struct local_dev *dev)
{
	uint64_t id = 0;
	uint32_t busy;

	while (find_busy(dev, &id, &busy)) {
		wait_for(dev, id, busy);
		id++;
	}
}
