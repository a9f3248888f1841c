/* SPDX-License-Identifier: BSD-2-Clause */
/* users.c - what users and jobs have asked all servers for: see gather.h. */
#include <stdlib.h>
#include <string.h>

#include "client/tools/top/gather.h"

static int same(const void *a, const void *b)
{
	const struct top_user *x = a, *y = b;

	if (x->key.flags != y->key.flags)
		return x->key.flags < y->key.flags ? -1 : 1;
	if (x->key.uid != y->key.uid)
		return x->key.uid < y->key.uid ? -1 : 1;
	return strcmp(x->key.job, y->key.job);
}

static int busiest(const void *a, const void *b)
{
	const struct top_user *x = a, *y = b;
	int order = top_rates_busiest(&x->rates, &y->rates);

	return order ? order : same(a, b);
}

/* As it was; who was counted among the others meanwhile begins at 0 again. */
static struct pvfs_label before_of(const struct pvfs_label *before, int n,
				   const struct pvfs_label *l)
{
	for (int i = 0; i < n; i++)
		if (before[i].uid == l->uid && before[i].flags == l->flags &&
		    !strcmp(before[i].job, l->job) &&
		    before[i].requests <= l->requests)
			return before[i];
	return (struct pvfs_label){ 0 };
}

void top_users_add(struct top *top, const struct top_answer *before,
		   const struct top_answer *now, double seconds)
{
	struct top_user *u;

	u = reallocarray(top->user, top->users + PVFS_LABELS, sizeof(*u));
	if (!u)
		return;
	top->user = u;
	for (int i = 0; i < now->labels; i++) {
		const struct pvfs_label *l = &now->label[i];
		struct pvfs_label old = before_of(before->label, before->labels,
						  l);
		uint64_t requests = l->requests - old.requests;

		if (!requests)
			continue;
		u[top->users++] = (struct top_user){
			*l,
			{ .requests = (double)requests / seconds,
			  .errors = (double)(l->errors - old.errors) / seconds,
			  .in = (double)(l->bytes_in - old.bytes_in) / seconds,
			  .out = (double)(l->bytes_out - old.bytes_out) /
				 seconds,
			  .mean_ns = (l->ns - old.ns) / requests },
		};
	}
}

void top_users_join(struct top *top)
{
	struct top_user *u = top->user;
	unsigned int n = 0;

	if (!top->users)
		return;
	qsort(u, top->users, sizeof(*u), same);
	for (unsigned int i = 0; i < top->users; i++)
		if (n && !same(&u[n - 1], &u[i]))
			top_rates_add(&u[n - 1].rates, &u[i].rates);
		else
			u[n++] = u[i];
	top->users = n;
	qsort(u, n, sizeof(*u), busiest);
}
