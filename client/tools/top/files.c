/* SPDX-License-Identifier: BSD-2-Clause */
/* files.c - which files most is done with, at all servers: see gather.h. */
#include <stdlib.h>
#include <string.h>

#include "client/tools/top/gather.h"

static int same(const void *a, const void *b)
{
	const struct top_file *x = a, *y = b;

	return x->handle < y->handle ? -1 : x->handle > y->handle;
}

static int busiest(const void *a, const void *b)
{
	const struct top_file *x = a, *y = b;
	int order = top_rates_busiest(&x->rates, &y->rates);

	return order ? order : same(a, b);
}

/* One that has come back begins at 0. */
static struct pvfs_hot before_of(const struct top_answer *before,
				 const struct pvfs_hot *f)
{
	for (int i = 0; i < before->files; i++)
		if (before->file[i].handle == f->handle &&
		    before->file[i].requests <= f->requests &&
		    before->file[i].bytes_in <= f->bytes_in &&
		    before->file[i].bytes_out <= f->bytes_out)
			return before->file[i];
	return (struct pvfs_hot){ 0 };
}

void top_files_add(struct top *top, const struct top_answer *before,
		   const struct top_answer *now, double seconds)
{
	struct top_file *f;

	f = reallocarray(top->file, top->files + PVFS_HOT, sizeof(*f));
	if (!f)
		return;
	top->file = f;
	for (int i = 0; i < now->files; i++) {
		const struct pvfs_hot *file = &now->file[i];
		struct pvfs_hot old = before_of(before, file);

		if (file->requests == old.requests)
			continue;
		f[top->files++] = (struct top_file){
			.handle = file->handle,
			.rates = {
				.requests = (double)(file->requests -
						     old.requests) /
					    seconds,
				.in = (double)(file->bytes_in - old.bytes_in) /
				      seconds,
				.out = (double)(file->bytes_out -
						old.bytes_out) /
				       seconds,
			},
		};
	}
}

static const char *name_of(const struct top *top, uint64_t handle)
{
	for (unsigned int i = 0; i < top->servers; i++) {
		const struct top_answer *a = top->server[i].last;

		for (int k = 0; k < a->names; k++)
			if (a->name[k].handle == handle && a->name[k].name[0])
				return a->name[k].name;
	}
	return "";
}

static void want(struct top *top, uint64_t handle)
{
	for (int i = 0; i < top->nwanted; i++)
		if (top->wanted[i].handle == handle)
			return;
	if (top->nwanted < PVFS_HOT)
		top->wanted[top->nwanted++].handle = handle;
}

/* Those of this page, then those that may be on the next. */
static void choose_wanted(struct top *top)
{
	pthread_mutex_lock(&top->lock);
	memset(top->wanted, 0, sizeof(top->wanted));
	top->nwanted = 0;
	for (unsigned int i = 0; i < top->files; i++)
		want(top, top->file[i].handle);
	for (int k = 0; k < PVFS_HOT; k++)
		for (unsigned int i = 0; i < top->servers; i++)
			if (k < top->server[i].last->files)
				want(top, top->server[i].last->file[k].handle);
	pthread_mutex_unlock(&top->lock);
}

void top_files_join(struct top *top)
{
	struct top_file *f = top->file;
	unsigned int n = 0;

	if (top->files)
		qsort(f, top->files, sizeof(*f), same);
	for (unsigned int i = 0; i < top->files; i++) {
		if (!n || same(&f[n - 1], &f[i])) {
			f[n] = f[i];
			f[n++].name = name_of(top, f[i].handle);
			continue;
		}
		top_rates_add(&f[n - 1].rates, &f[i].rates);
	}
	top->files = n;
	if (n)
		qsort(f, n, sizeof(*f), busiest);
	choose_wanted(top);
}
