/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_wait.c - waiting: look, yield for a while, then sleep.
 *
 * Spinning alone starves the peer when there are more processes than CPUs;
 * sleeping at once costs a wake-up of 50 us where an answer takes 5.
 */
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "local.h"

#define SPIN_NS 30000u /* of yielding before sleep */
#define LOOKS 64 /* without a yield */

static struct local_cq *to_cq(struct tp_cq *base)
{
	return container_of(base, struct local_cq, cq);
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* True: there is something to do. */
static bool spin(struct local_cq *cq, uint64_t deadline)
{
	uint64_t until;
	int i;

	if (TAILQ_EMPTY(&cq->hot))
		return false;
	for (i = 0; i < LOOKS; i++) {
		if (local_cq_has_work(cq))
			return true;
		relax();
	}
	until = clock_now() + SPIN_NS;
	if (until > deadline)
		until = deadline;
	do {
		sched_yield();
		if (local_cq_has_work(cq))
			return true;
	} while (!atomic_load_explicit(&cq->woken, memory_order_relaxed) &&
		 clock_now() < until);
	return false;
}

/* Every hot endpoint asks for the bell.  False: one has something to do. */
static bool cool_all(struct local_cq *cq)
{
	struct local_ep *ep;

	while ((ep = TAILQ_FIRST(&cq->hot)))
		if (!local_ep_cool(ep))
			return false;
	return true;
}

/*
 * A waker sets woken, then looks at asleep; a sleeper sets asleep, then looks
 * at woken: one of the two sees the other.
 */
int local_cq_wait(struct tp_cq *base, uint64_t deadline)
{
	struct local_cq *cq = to_cq(base);
	bool woken;

	local_cq_flush(cq);
	if (local_cq_has_work(cq) || spin(cq, deadline) || !cool_all(cq))
		return 0;
	atomic_store(&cq->asleep, true);
	woken = atomic_load(&cq->woken);
	if (!woken) {
		errno = 0;
		local_cq_look(cq, clock_left_ms(deadline));
		woken = errno == EINTR;
	}
	atomic_store_explicit(&cq->asleep, false, memory_order_relaxed);
	woken |= atomic_exchange(&cq->woken, false);
	return cq->nsaved || woken ? 0 : -ETIMEDOUT;
}

void local_cq_wake(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);
	const uint64_t one = 1;
	int saved = errno;

	if (!atomic_exchange(&cq->woken, true) && atomic_load(&cq->asleep) &&
	    write(cq->wakefd, &one, sizeof(one)) < 0)
		errno = saved;
}

int local_cq_fd(struct tp_cq *base)
{
	return to_cq(base)->epfd;
}

int local_cq_arm(struct tp_cq *base)
{
	struct local_cq *cq = to_cq(base);

	local_cq_flush(cq);
	cq->polls = UINT32_MAX / 2; /* the next poll looks */
	if (local_cq_has_work(cq) || !cool_all(cq))
		return 1;
	atomic_store(&cq->asleep, true);
	if (!atomic_exchange(&cq->woken, false))
		return 0;
	atomic_store(&cq->asleep, false);
	return 1;
}
