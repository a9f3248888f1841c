/* SPDX-License-Identifier: BSD-2-Clause */
/* munge_probe.c - checks whether munged answers when the manager starts, before clients need it. */
#include <errno.h>
#include <stdlib.h>

#include "mgr/auth/mgr_auth_int.h"

struct munge_probe {
	struct pool_job job;
	struct mgr *mgr;
	struct munger *munger; /* a reference */
	int rc;
};

static void drop_probe(struct pool_job *job)
{
	struct munge_probe *probe = container_of(job, struct munge_probe, job);

	munger_put(probe->munger);
	free(probe);
}

static void run_probe(struct pool_job *job)
{
	struct munge_probe *probe = container_of(job, struct munge_probe, job);
	char cred[MUNGER_CRED_MAX];

	probe->rc = munger_encode(probe->munger, "", 0,
				  clock_after_ms(MUNGER_WAIT_MS), cred);
}

static void log_probe(struct pool_job *job)
{
	struct munge_probe *probe = container_of(job, struct munge_probe, job);

	if (probe->rc)
		log_warn(probe->mgr->log,
			 "[filesystem] auth = munge: clients of other hosts "
			 "get no ticket yet: %s",
			 munger_why(probe->rc));
	else
		log_info(probe->mgr->log, "munged of this host answers");
	drop_probe(job);
}

int munge_probe_start(struct mgr *mgr)
{
	struct munge_probe *probe = calloc(1, sizeof(*probe));

	if (!probe)
		return -ENOMEM;
	probe->job.work = run_probe;
	probe->job.done = log_probe;
	probe->job.drop = drop_probe;
	probe->mgr = mgr;
	probe->munger = munger_get(mgr->auth->munger);
	return pool_add(mgr->auth->pool, &probe->job);
}
