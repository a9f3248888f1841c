/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * room.c - limits the calls to iods that are slow or down.  Questions and truncations
 * beyond the limit wait for their turn, in order.
 */
#include "mgr/jobs/jobs_int.h"

static bool fits(const struct mgr *mgr, uint32_t n)
{
	const struct jobs *jobs = mgr->jobs;

	return !jobs->calls || jobs->calls + n <= mgr->conf.iod_calls;
}

bool jobs_room(const struct request *req, uint32_t n)
{
	const struct mgr *mgr = req->mgr;

	return (req->admitted && fits(mgr, n)) || jobs_idle(mgr, n);
}

bool jobs_idle(const struct mgr *mgr, uint32_t n)
{
	return park_empty(&mgr->jobs->room) && fits(mgr, n);
}

void jobs_wait(struct request *req)
{
	req->admitted = true; /* for when it runs again */
	park_wait(&req->mgr->jobs->room, req);
}

static void late(struct park *park, struct request *req)
{
	answer_late(req, "its turn among other truncations and questions for "
			 "sizes; see which iods do not answer, or raise "
			 "iod_calls");
}

void room_open(struct mgr *mgr)
{
	park_init(&mgr->jobs->room, RPC_QUEUE, late);
}

static bool fits_all(const struct mgr *mgr)
{
	return fits(mgr, mgr->conf.niods);
}

bool jobs_admit(struct mgr *mgr)
{
	return park_run(mgr, &mgr->jobs->room, fits_all);
}
