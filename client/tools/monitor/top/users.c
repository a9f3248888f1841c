/* SPDX-License-Identifier: BSD-2-Clause */
/* users.c - the requests of users and jobs over all servers: see gather.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/monitor/top/gather.h"

static int by_user(const void *a, const void *b)
{
	const struct top_user *x = a, *y = b;

	int order = strcmp(x->way, y->way);

	if (!order)
		order = strcmp(x->uid, y->uid);
	return order ? order : strcmp(x->job, y->job);
}

static int by_user_rates(const void *a, const void *b)
{
	const struct top_user *x = a, *y = b;
	int order = top_rates_busiest(&x->rates, &y->rates);

	return order ? order : by_user(a, b);
}

void top_users_add(struct top *top, const struct pvfs_metric *row,
		   double seconds)
{
	struct top_user *u;

	u = reallocarray(top->user, top->users + 1, sizeof(*u));
	if (!u)
		return;
	top->user = u;
	u += top->users++;
	*u = (struct top_user){ .rates = top_rates_of(row, seconds) };
	snprintf(u->uid, sizeof(u->uid), "%s", pvfs_metric_label(row, "uid"));
	snprintf(u->job, sizeof(u->job), "%s", pvfs_metric_label(row, "job"));
	snprintf(u->way, sizeof(u->way), "%s", pvfs_metric_label(row, "way"));
}

void top_users_join(struct top *top)
{
	struct top_user *u = top->user;
	unsigned int n = 0;

	if (!top->users)
		return;
	qsort(u, top->users, sizeof(*u), by_user);
	for (unsigned int i = 0; i < top->users; i++)
		if (n && !by_user(&u[n - 1], &u[i]))
			top_rates_add(&u[n - 1].rates, &u[i].rates);
		else
			u[n++] = u[i];
	top->users = n;
	qsort(u, n, sizeof(*u), by_user_rates);
}
