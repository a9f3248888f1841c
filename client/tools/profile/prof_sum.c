/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_sum.c - processes together: each file over all of them, and everything. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_data.h"

const char *const prof_size_name[PROF_SIZES] = {
	"0-100", "100-1K", "1K-10K",   "10K-100K", "100K-1M",
	"1M-4M", "4M-10M", "10M-100M", "100M-1G",  "1G+",
};

/* ---- records ---- */

/* Of eight, the four commonest: what each process has left out is not in them. */
static void add_common(struct prof_common to[PROF_COMMON],
		       const struct prof_common from[PROF_COMMON])
{
	struct prof_common all[2 * PROF_COMMON] = { 0 };
	size_t i, j, n = PROF_COMMON;

	memcpy(all, to, PROF_COMMON * sizeof(*to));
	for (i = 0; i < PROF_COMMON && from[i].count; i++) {
		for (j = 0;
		     j < n && !(all[j].count && all[j].value == from[i].value);
		     j++)
			;
		if (j == n)
			all[n++].value = from[i].value;
		all[j].count += from[i].count;
	}
	for (i = 0; i < PROF_COMMON; i++) {
		struct prof_common *most = &all[i], mine = all[i];

		for (j = i + 1; j < n; j++) {
			if (all[j].count > most->count)
				most = &all[j];
		}
		to[i] = *most;
		*most = mine;
		all[i] = to[i];
	}
}

static void add_way(struct prof_way *w, const struct prof_way *other)
{
	unsigned int i;

	w->bytes += other->bytes;
	for (i = 0; i < PROF_SIZES; i++)
		w->sizes[i] += other->sizes[i];
	w->sequential += other->sequential;
	w->consecutive += other->consecutive;
	w->strided += other->strided;
	w->unaligned += other->unaligned;
	w->large += other->large;
	w->large_unaligned += other->large_unaligned;
	add_common(w->size, other->size);
	add_common(w->stride, other->stride);
}

static void add_record(struct prof_record *r, const struct prof_record *other)
{
	unsigned int i;

	for (i = 0; i < PROF_KINDS; i++) {
		r->calls[i] += other->calls[i];
		r->ns[i] += other->ns[i];
	}
	r->errors += other->errors;
	r->list_pieces += other->list_pieces;
	add_way(&r->way[0], &other->way[0]);
	add_way(&r->way[1], &other->way[1]);
	if (other->slowest_ns > r->slowest_ns) {
		r->slowest_ns = other->slowest_ns;
		r->slowest = other->slowest;
	}
	if (other->last_ns > r->last_ns)
		r->last_ns = other->last_ns;
	if (other->last_ns && (!r->first_ns || other->first_ns < r->first_ns))
		r->first_ns = other->first_ns;
}

uint64_t prof_bytes(const struct prof_record *r)
{
	return r->way[0].bytes + r->way[1].bytes;
}

uint64_t prof_moves(const struct prof_record *r, int way)
{
	return way == PROF_READS
		       ? r->calls[PROF_READ] + r->calls[PROF_LIST_READ]
		       : r->calls[PROF_WRITE] + r->calls[PROF_LIST_WRITE];
}

uint64_t prof_meta_ns(const struct prof_record *r)
{
	return r->ns[PROF_OPEN] + r->ns[PROF_CLOSE] + r->ns[PROF_STAT] +
	       r->ns[PROF_META] + r->ns[PROF_DIR] + r->ns[PROF_LOCK];
}

uint64_t prof_busy_ns(const struct prof_record *r)
{
	return prof_meta_ns(r) + r->ns[PROF_READ] + r->ns[PROF_WRITE] +
	       r->ns[PROF_LIST_READ] + r->ns[PROF_LIST_WRITE] +
	       r->ns[PROF_FSYNC] + r->ns[PROF_WAIT];
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

/* Names and ids stay their processes'. */
static size_t collect(const struct prof *all, struct prof_file *to)
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

static size_t merge(struct prof_file *file, size_t n)
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
		add_record(&f->r, &file[i].r);
	}
	return n ? to + 1 : 0;
}

int prof_sum(struct prof *all)
{
	size_t n = 0, i;

	for (i = 0; i < all->processes; i++) {
		n += all->process[i].files;
		add_record(&all->sum, &all->process[i].r);
	}
	all->file = calloc(n ? n : 1, sizeof(*all->file));
	if (!all->file)
		return -1;
	collect(all, all->file);
	qsort(all->file, n, sizeof(*all->file), by_id);
	all->files = merge(all->file, n);
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
