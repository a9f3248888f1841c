/* SPDX-License-Identifier: BSD-2-Clause */
/* check_passes.c - one pass over names and objects, and what two of them agree on. */
#include <stdlib.h>
#include <time.h>

#include "common/util/clock.h"
#include "mgr/fsck/fsck.h"

static int run_pass(struct fsck *f)
{
	struct object_list list = { 0 };
	int rc;

	f->start_time = clock_wall();
	f->problems.n = 0;
	rc = object_list_read(f, &list);
	if (!rc)
		rc = name_walk_run(f);
	if (!rc)
		rc = name_walk_check_links(f);
	if (!rc)
		rc = copyset_list_read(f);
	if (!rc)
		rc = object_list_check(f, &list);
	copyset_list_free(f);
	name_walk_free(f);
	free(list.o);
	problem_list_sort(&f->problems);
	return rc;
}

int fsck_run_passes(struct fsck *f, unsigned int settle_ms,
		    struct problem_list *all)
{
	struct timespec settle = { settle_ms / 1000,
				   (long)(settle_ms % 1000) * 1000000 };
	int rc = run_pass(f);

	*all = f->problems;
	f->problems = (struct problem_list){ 0 };
	if (rc || !all->n)
		return rc;
	nanosleep(&settle, NULL);
	rc = run_pass(f);
	problem_list_intersect(all, &f->problems);
	problem_list_free(&f->problems);
	return rc;
}
