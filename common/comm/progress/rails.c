/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rails.c - the completion queues of a context: which of them to poll, and how to sleep on all of
 * them.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "common/comm/progress/ctx.h"
#include "common/util/watched_descriptor.h"

#define RAIL_DULL 64 /* empty rounds after which a rail is polled seldom, */
#define RAIL_SELDOM 8 /* ... in every 8th round */

int ctx_rails_open(struct rpc_ctx *ctx, const struct rails *rails)
{
	int rc = 0;

	ctx->wakefd = -1;
	if (!rails->n || rails->n > RAILS_MAX)
		return -EINVAL;
	if (rails->n > 1)
		ctx->wakefd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (rails->n > 1 && ctx->wakefd < 0)
		return -errno;
	while (ctx->rails.n < rails->n) {
		unsigned int i = ctx->rails.n;

		rc = tp_cq_open(rails->dev[i], CTX_CQ_DEPTH, &ctx->rail[i].cq);
		if (rc)
			break;
		ctx->rails.dev[i] = rails->dev[i];
		ctx->rails.n++;
	}
	if (rc)
		ctx_rails_close(ctx);
	return rc;
}

void ctx_rails_close(struct rpc_ctx *ctx)
{
	while (ctx->rails.n > 0)
		tp_cq_close(ctx->rail[--ctx->rails.n].cq);
	if (ctx->wakefd >= 0)
		close(ctx->wakefd);
}

void rpc_ctx_abandon(struct rpc_ctx *ctx)
{
	unsigned int i;

	rails_pins_abandon(&ctx->rails);
	for (i = 0; i < ctx->rails.n; i++)
		tp_cq_abandon(ctx->rail[i].cq);
	if (ctx->wakefd >= 0)
		close(ctx->wakefd);
}

void ctx_rail_use(struct rpc_ctx *ctx, unsigned int rail)
{
	ctx->users++;
	ctx->rail[rail].users++;
	ctx->rail[rail].dull = 0;
}

void ctx_rail_leave(struct rpc_ctx *ctx, unsigned int rail)
{
	ctx->users--;
	ctx->rail[rail].users--;
}

/* A rail on which the context sleeps must be polled: else pending work would end each sleep. */
bool ctx_rail_used(const struct rpc_ctx *ctx, unsigned int rail)
{
	return ctx->rail[rail].users || (!ctx->users && rail == 0);
}

bool ctx_rail_due(struct rpc_ctx *ctx, unsigned int rail)
{
	struct ctx_rail *r = &ctx->rail[rail];

	if (ctx->rails.n == 1)
		return true;
	if (!ctx_rail_used(ctx, rail))
		return false;
	return ++r->dull < RAIL_DULL || r->dull % RAIL_SELDOM == 0;
}

/* Returns the only rail in use; RAILS_MAX: there are several. */
static unsigned int rails_only(const struct rpc_ctx *ctx)
{
	unsigned int i, only = RAILS_MAX;

	if (ctx->rails.n == 1)
		return 0;
	for (i = 0; i < ctx->rails.n; i++) {
		if (!ctx_rail_used(ctx, i))
			continue;
		if (only < RAILS_MAX)
			return RAILS_MAX;
		only = i;
	}
	return only;
}

static bool rails_ready(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *n)
{
	bool ready = false;
	unsigned int i;

	fd[0] = (struct pollfd){ .fd = ctx->wakefd, .events = POLLIN };
	*n = 1;
	for (i = 0; i < ctx->rails.n; i++) {
		struct ctx_rail *r = &ctx->rail[i];

		if (!ctx_rail_used(ctx, i))
			continue;
		r->dull = 0;
		ready |= tp_cq_arm(r->cq) == 1;
		fd[(*n)++] = (struct pollfd){ .fd = tp_cq_fd(r->cq),
					      .events = POLLIN };
	}
	return ready;
}

/* also: a descriptor, see watched_descriptor.h; -1: none. */
static void rails_poll(struct rpc_ctx *ctx, uint64_t deadline, int also)
{
	struct pollfd fd[RAILS_MAX + 2];
	uint64_t now, left;
	struct timespec ts;
	eventfd_t count;
	unsigned int n;

	if (rails_ready(ctx, fd, &n))
		return;
	fd[n] = (struct pollfd){ .fd = also, .events = POLLIN };
	now = clock_now();
	left = deadline > now ? deadline - now : 0;
	ts = clock_timespec(left);
	if (ppoll(fd, n + 1, deadline == CLOCK_NEVER ? NULL : &ts, NULL) <= 0)
		return;
	if (fd[0].revents)
		eventfd_read(ctx->wakefd, &count);
	if (fd[n].revents)
		watched_descriptor_hand_over();
}

/*
 * The waker sets woken and then reads sleeping.  This function sets sleeping and then reads
 * woken, so at least one of the two sees the other.
 */
void ctx_rails_wait(struct rpc_ctx *ctx, uint64_t deadline)
{
	unsigned int only = rails_only(ctx), i;
	int also = watched_descriptor_fd();

	atomic_store(&ctx->sleeping, only + 1);
	if (!atomic_load(&ctx->woken)) {
		if (only < RAILS_MAX && also < 0)
			tp_cq_wait(ctx->rail[only].cq, deadline);
		else
			rails_poll(ctx, deadline, also);
	}
	atomic_store(&ctx->sleeping, 0);
	for (i = 0; i < ctx->rails.n; i++)
		ctx->rail[i].dull = 0;
}

/* An earlier wake may still be counted in wakefd. */
bool ctx_rails_rest(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *n)
{
	eventfd_t count;

	if (ctx->wakefd >= 0)
		eventfd_read(ctx->wakefd, &count);
	atomic_store(&ctx->sleeping, ctx->wakefd >= 0 ? CTX_SLEEPS_ON_ALL : 1);
	if (!atomic_exchange(&ctx->woken, false) && !rails_ready(ctx, fd, n))
		return true;
	atomic_store(&ctx->sleeping, 0);
	return false;
}

void rpc_ctx_hold(struct rpc_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->rails.n; i++)
		tp_cq_hold(ctx->rail[i].cq);
}

void rpc_ctx_release(struct rpc_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->rails.n; i++)
		tp_cq_release(ctx->rail[i].cq);
}

void ctx_rails_arm(struct rpc_ctx *ctx)
{
	unsigned int i;

	for (i = 0; i < ctx->rails.n; i++) {
		if (ctx_rail_used(ctx, i))
			tp_cq_arm(ctx->rail[i].cq);
		ctx->rail[i].dull = 0;
	}
}

void rpc_ctx_wake(struct rpc_ctx *ctx)
{
	const uint64_t one = 1;
	unsigned int sleeping;
	int saved = errno;

	atomic_store(&ctx->woken, true);
	sleeping = atomic_load(&ctx->sleeping);
	if (sleeping == CTX_SLEEPS_ON_ALL) {
		if (write(ctx->wakefd, &one, sizeof(one)) < 0)
			errno = saved;
	} else if (sleeping) {
		tp_cq_wake(ctx->rail[sleeping - 1].cq);
	}
}
