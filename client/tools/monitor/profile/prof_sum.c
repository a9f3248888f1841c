/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_sum.c - combines processes: each file over all of them, and the total. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/monitor/profile/prof.h"

const char *const prof_size_name[PROFILE_SIZES] = {
	"0-100", "100-1K", "1K-10K",   "10K-100K", "100K-1M",
	"1M-4M", "4M-10M", "10M-100M", "100M-1G",  "1G+",
};

/* ---- records ---- */

uint64_t prof_bytes(const struct profile_record *r)
{
	return r->way[0].bytes + r->way[1].bytes;
}

uint64_t prof_moves(const struct profile_record *r, int way)
{
	return way == PROFILE_READS
		       ? r->calls[PROFILE_READ] + r->calls[PROFILE_LIST_READ]
		       : r->calls[PROFILE_WRITE] + r->calls[PROFILE_LIST_WRITE];
}

uint64_t prof_meta_ns(const struct profile_record *r)
{
	return r->ns[PROFILE_OPEN] + r->ns[PROFILE_CLOSE] +
	       r->ns[PROFILE_STAT] + r->ns[PROFILE_META] + r->ns[PROFILE_DIR] +
	       r->ns[PROFILE_LOCK];
}

uint64_t prof_busy_ns(const struct profile_record *r)
{
	return prof_meta_ns(r) + r->ns[PROFILE_READ] + r->ns[PROFILE_WRITE] +
	       r->ns[PROFILE_LIST_READ] + r->ns[PROFILE_LIST_WRITE] +
	       r->ns[PROFILE_FSYNC] + r->ns[PROFILE_WAIT];
}

/* ---- processes ---- */

int prof_add(struct prof *all, struct prof_process *p)
{
	struct prof_process *more =
		reallocarray(all->process, all->processes + 1, sizeof(*more));

	if (!more)
		return -1;
	all->process = more;
	all->process[all->processes++] = *p;
	return 0;
}

static int by_rank(const void *x, const void *y)
{
	const struct prof_process *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->begun < b->begun ? -1 : a->begun > b->begun;
}

const struct prof_process *prof_slowest(const struct prof *all)
{
	const struct prof_process *most = NULL;
	size_t i;

	for (i = 0; i < all->processes; i++) {
		if (!most ||
		    prof_busy_ns(&all->process[i].r) > prof_busy_ns(&most->r))
			most = &all->process[i];
	}
	return all->processes > 1 ? most : NULL;
}

const char *prof_who(const struct prof_process *p, char *buf, size_t room)
{
	if (p->rank >= 0)
		snprintf(buf, room, "rank %" PRId64, p->rank);
	else
		snprintf(buf, room, "pid %" PRId64 " on %s", p->pid, p->host);
	return buf;
}

/* ---- files ---- */

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct prof_file *)a)->id,
		      ((const struct prof_file *)b)->id);
}

static int by_bytes(const void *x, const void *y)
{
	const struct prof_file *a = x, *b = y;
	uint64_t m = prof_bytes(&a->r), n = prof_bytes(&b->r);

	return m != n ? (m > n ? -1 : 1) : strcmp(a->id, b->id);
}

/* The processes still own the names and ids. */
static size_t collect_files(const struct prof *all, struct prof_file *to)
{
	size_t n = 0, i;

	for (i = 0; i < all->processes; i++) {
		if (all->process[i].files)
			memcpy(to + n, all->process[i].file,
			       all->process[i].files * sizeof(*to));
		n += all->process[i].files;
	}
	return n;
}

static size_t merge_files(struct prof_file *file, size_t n)
{
	size_t i, to = 0;

	for (i = 1; i < n; i++) {
		struct prof_file *f = &file[to];

		if (strcmp(f->id, file[i].id)) {
			file[++to] = file[i];
			continue;
		}
		if (!*f->name)
			f->name = file[i].name;
		f->processes++;
		profile_record_add(&f->r, &file[i].r);
	}
	return n ? to + 1 : 0;
}

int prof_sum(struct prof *all)
{
	size_t n = 0, i;

	for (i = 0; i < all->processes; i++) {
		n += all->process[i].files;
		profile_record_add(&all->sum, &all->process[i].r);
	}
	all->file = calloc(n ? n : 1, sizeof(*all->file));
	if (!all->file)
		return -1;
	collect_files(all, all->file);
	qsort(all->file, n, sizeof(*all->file), by_id);
	all->files = merge_files(all->file, n);
	qsort(all->file, all->files, sizeof(*all->file), by_bytes);
	qsort(all->process, all->processes, sizeof(*all->process), by_rank);
	return 0;
}

void prof_free(struct prof *all)
{
	size_t i;

	for (i = 0; i < all->processes; i++)
		prof_process_free(&all->process[i]);
	free(all->process);
	free(all->file);
}
