/* SPDX-License-Identifier: BSD-2-Clause */
/* munged.c - a manager that starts looks whether munged is there, before clients find out. */
#include <errno.h>
#include <stdlib.h>

#include "mgr/auth/auth_int.h"

struct look {
	struct pool_job job;
	struct mgr *mgr;
	struct munger *munger; /* a reference */
	int rc;
};

static void drop(struct pool_job *job)
{
	struct look *look = container_of(job, struct look, job);

	munger_put(look->munger);
	free(look);
}

static void work(struct pool_job *job)
{
	struct look *look = container_of(job, struct look, job);
	char cred[MUNGER_CRED_MAX];

	look->rc = munger_encode(look->munger, "", 0,
				 clock_after_ms(MUNGER_WAIT_MS), cred);
}

static void done(struct pool_job *job)
{
	struct look *look = container_of(job, struct look, job);

	if (look->rc)
		log_warn(look->mgr->log,
			 "[filesystem] auth = munge: clients of other hosts "
			 "get no ticket yet: %s",
			 munger_why(look->rc));
	else
		log_info(look->mgr->log, "munged of this host answers");
	drop(job);
}

int munged_look(struct mgr *mgr)
{
	struct look *look = calloc(1, sizeof(*look));

	if (!look)
		return -ENOMEM;
	look->job.work = work;
	look->job.done = done;
	look->job.drop = drop;
	look->mgr = mgr;
	look->munger = munger_get(mgr->auths->munger);
	return pool_add(mgr->auths->pool, &look->job);
}
