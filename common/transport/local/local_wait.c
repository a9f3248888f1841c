/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_wait.c - sleeping.  Whether to poll before that is the caller's
 * choice: it alone knows whether that paid the last time.
 */
#include <errno.h>
#include <unistd.h>

#include "local.h"

static struct local_cq *to_cq(struct tp_cq *base)
{
	return container_of(base, struct local_cq, cq);
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
	if (local_cq_has_work(cq) || !cool_all(cq))
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
