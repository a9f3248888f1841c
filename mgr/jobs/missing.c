/* SPDX-License-Identifier: BSD-2-Clause */
/* missing.c - logs reminders of iods that do not answer, at increasing intervals. */
#include <stdio.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"

#define FIRST_MS 10000u
#define LAST_MS 600000u
#define NAMED_MAX 4u

/*
 * A new file system needs each iod once; afterwards an iod is missing if a call to it
 * failed.
 */
static bool is_missing(const struct iod *iod)
{
	return iod->mgr->fresh ? !iod->claimer.asked : iod->down;
}

/* Lists "iod 0 (uri), iod 2 (uri) and 3 more" in buf; returns their number. */
static uint32_t list_missing(struct mgr *mgr, char *buf, size_t len)
{
	uint32_t i, n = 0;
	size_t at = 0;

	buf[0] = '\0';
	for (i = 0; i < mgr->conf.niods; i++) {
		const struct iod *iod = &mgr->jobs->iod[i];

		if (is_missing(iod) && n++ < NAMED_MAX && at < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s",
					       at ? ", " : "", iod_name(iod));
	}
	if (n > NAMED_MAX && at < len)
		snprintf(buf + at, len - at, " and %u more", n - NAMED_MAX);
	return n;
}

static void remind(struct rpc_timer *timer)
{
	struct jobs *jobs = container_of(timer, struct jobs, missing.timer);
	struct mgr *mgr = jobs->iod[0].mgr;
	char text[NAMED_MAX * 160];
	uint32_t n = list_missing(mgr, text, sizeof(text));

	jobs->missing.ms = n ? jobs->missing.ms * 2 : 0;
	if (!n)
		return;
	log_warn(mgr->log, "still waits for %u of %u iods: %s: %s; start them",
		 n, mgr->conf.niods, text,
		 mgr->fresh ? "until then no client is served"
			    : "removals and truncations wait for them");
	if (jobs->missing.ms > LAST_MS)
		jobs->missing.ms = LAST_MS;
	rpc_timer_set(mgr->ctx, timer, clock_after_ms(jobs->missing.ms));
}

void missing_watch(struct mgr *mgr)
{
	struct jobs *jobs = mgr->jobs;

	if (jobs->missing.ms)
		return;
	jobs->missing.ms = FIRST_MS;
	jobs->missing.timer.fire = remind;
	rpc_timer_set(mgr->ctx, &jobs->missing.timer, clock_after_ms(FIRST_MS));
}

void missing_close(struct mgr *mgr)
{
	rpc_timer_clear(mgr->ctx, &mgr->jobs->missing.timer);
}
