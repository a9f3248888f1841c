/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ends.c - sessions whose end waits until no iod can execute a request of them.  Each
 * iod must be in one of three states:
 *
 *   - it has the fence;
 *   - it does not run, and gets the fence before it serves;
 *   - its lease has expired, and it gets the fence before the next lease.
 */
#include <errno.h>
#include <stdlib.h>

#include "mgr/jobs/jobs_int.h"

/*
 * The iods permit all ends up to the returned id.  *next: the time at which they may
 * permit more.
 */
static uint64_t settled(const struct mgr *mgr, uint64_t now, uint64_t *next)
{
	uint64_t id = UINT64_MAX;

	*next = UINT64_MAX;
	for (uint32_t i = 0; i < mgr->conf.niods; i++) {
		const struct iod *iod = &mgr->jobs->iod[i];

		if (now >= iod->lease.until || fence_has_all(iod))
			continue;
		if (iod->fencer.done < id)
			id = iod->fencer.done;
		if (iod->lease.until < *next)
			*next = iod->lease.until;
	}
	return id;
}

static void look_later(struct mgr *mgr, uint64_t left)
{
	rpc_timer_clear(mgr->ctx, &mgr->jobs->ends_look);
	rpc_timer_set(mgr->ctx, &mgr->jobs->ends_look, clock_now() + left);
}

void ends_look(struct mgr *mgr)
{
	uint64_t now = clock_boot(), next;
	uint64_t id = settled(mgr, now, &next), session;
	struct end *end;

	while ((end = TAILQ_FIRST(&mgr->jobs->ends)) && end->id <= id) {
		session = end->session;
		TAILQ_REMOVE(&mgr->jobs->ends, end, link);
		free(end);
		mgr->jobs->fenced(mgr, session);
	}
	if (end)
		look_later(mgr, next - now);
}

void ends_look_soon(struct mgr *mgr)
{
	if (!TAILQ_EMPTY(&mgr->jobs->ends))
		look_later(mgr, 0);
}

static void on_timer(struct rpc_timer *timer)
{
	struct jobs *jobs = container_of(timer, struct jobs, ends_look);

	ends_look(jobs->iod[0].mgr);
}

void ends_open(struct mgr *mgr)
{
	TAILQ_INIT(&mgr->jobs->ends);
	mgr->jobs->ends_look.fire = on_timer;
}

int ends_add(struct mgr *mgr, uint64_t id, uint64_t session)
{
	struct end *end = calloc(1, sizeof(*end));

	if (!end)
		return -ENOMEM;
	end->id = id;
	end->session = session;
	TAILQ_INSERT_TAIL(&mgr->jobs->ends, end, link);
	return 0;
}

void ends_close(struct mgr *mgr)
{
	struct end *end;

	rpc_timer_clear(mgr->ctx, &mgr->jobs->ends_look);
	while ((end = TAILQ_FIRST(&mgr->jobs->ends))) {
		TAILQ_REMOVE(&mgr->jobs->ends, end, link);
		free(end);
	}
}
