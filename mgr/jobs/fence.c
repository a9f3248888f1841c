/* SPDX-License-Identifier: BSD-2-Clause */
/* fence.c - a session that went silent must not write any more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jobs_impl.h"
#include "session.h"

static struct fence *fence_of(struct fan *fan)
{
	return container_of(fan, struct fence, fan);
}

static void fence_free(struct fence *fence)
{
	fan_end(&fence->fan);
	LIST_REMOVE(fence, link);
	free(fence);
}

static void build(struct fan *fan, uint32_t k, struct wire_out *out)
{
	struct wire_fence body = { htole64(fence_of(fan)->session) };

	wire_put(out, &body, sizeof(body));
}

static void done(struct fan *fan)
{
	struct fence *fence = fence_of(fan);
	struct mgr *mgr = fan->mgr;
	uint64_t session = fence->session;

	if (fan->status)
		log_error(mgr->log,
			  "fencing session %016llx: an iod answered: %s; its "
			  "writes may still arrive there",
			  (unsigned long long)session, strerror(-fan->status));
	fence_free(fence);
	session_fenced(mgr, session);
}

static const struct fan_ops fence_ops = {
	.op = WIRE_FENCE,
	.build = build,
	.done = done,
};

void fence_start(struct mgr *mgr, uint64_t session)
{
	struct fence *fence = calloc(1, sizeof(*fence));
	int rc = -ENOMEM;

	if (fence) {
		fence->session = session;
		LIST_INSERT_HEAD(&mgr->jobs->fences, fence, link);
		rc = fan_start(mgr, &fence->fan, &fence_ops, 0,
			       mgr->conf.niods);
	}
	if (!rc)
		return;
	log_error(mgr->log,
		  "fencing session %016llx: %s; its files stay open until the "
		  "next start",
		  (unsigned long long)session, strerror(-rc));
	if (fence)
		fence_free(fence);
}

void fences_close(struct mgr *mgr)
{
	struct fence *fence;

	while ((fence = LIST_FIRST(&mgr->jobs->fences)))
		fence_free(fence);
}
