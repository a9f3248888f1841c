/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_advice.c - see prof.h: one table, one function per rule. */
#include "client/tools/monitor/profile/prof.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/tools/common/tool.h"

struct advice_rule {
	const char *name;
	/*
	 * the rule holds from this share, or number of times; least: how many calls or
	 * bytes there must be
	 */
	double share;
	uint64_t least;
	const char *counts; /* unit of least, such as "opens of a file" */
	bool (*holds)(const struct prof *all, const struct advice_rule *rule,
		      char *text, size_t room);
};

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static const char *const verb[2] = { "reads", "writes" };

/* ---- small transfers: up to 10K, which cost a round trip each ---- */

#define SMALL_BUCKETS 3u
#define SMALL_BYTES (10 << 10)

static bool small_moves(const struct prof *all, const struct advice_rule *rule,
			int way, char *text, size_t room)
{
	const struct profile_way *w = &all->sum.way[way];
	uint64_t n = 0, moves = prof_moves(&all->sum, way);
	char what[32] = "at most 10K";
	double share, most;
	unsigned int i;

	for (i = 0; i < SMALL_BUCKETS; i++)
		n += w->sizes[i];
	share = share_of(n, moves);
	if (moves < rule->least || share < rule->share)
		return false;
	most = share_of(w->size[0].count, moves);
	if (most >= rule->share && w->size[0].value <= SMALL_BYTES)
		snprintf(what, sizeof(what), "%" PRId64, w->size[0].value);
	else
		most = share;
	snprintf(text, room,
		 "%.0f %% of your %s are of %s bytes: use lists, collective "
		 "buffering or larger calls",
		 100 * most, verb[way], what);
	return true;
}

static bool small_writes(const struct prof *all, const struct advice_rule *rule,
			 char *text, size_t room)
{
	return small_moves(all, rule, PROFILE_WRITES, text, room);
}

static bool small_reads(const struct prof *all, const struct advice_rule *rule,
			char *text, size_t room)
{
	return small_moves(all, rule, PROFILE_READS, text, room);
}

/* ---- stripes ---- */

static bool unaligned_moves(const struct prof *all,
			    const struct advice_rule *rule, int way, char *text,
			    size_t room)
{
	const struct profile_way *w = &all->sum.way[way];
	double share = share_of(w->large_unaligned, w->large);

	if (w->large < rule->least || share < rule->share)
		return false;
	snprintf(
		text, room,
		"%.0f %% of your %s of a stripe or more begin within a stripe: "
		"begin them at multiples of the stripe size, and fewer servers "
		"are asked",
		100 * share, verb[way]);
	return true;
}

static bool unaligned_writes(const struct prof *all,
			     const struct advice_rule *rule, char *text,
			     size_t room)
{
	return unaligned_moves(all, rule, PROFILE_WRITES, text, room);
}

static bool unaligned_reads(const struct prof *all,
			    const struct advice_rule *rule, char *text,
			    size_t room)
{
	return unaligned_moves(all, rule, PROFILE_READS, text, room);
}

/* ---- steps through a file ---- */

static bool strided_moves(const struct prof *all,
			  const struct advice_rule *rule, char *text,
			  size_t room)
{
	int way;

	for (way = 0; way < 2; way++) {
		const struct profile_way *w = &all->sum.way[way];
		uint64_t moves = prof_moves(&all->sum, way);
		double share = share_of(w->strided, moves);

		if (moves < rule->least || share < rule->share)
			continue;
		snprintf(text, room,
			 "%.0f %% of your %s go through a file in equal steps, "
			 "most often of %" PRId64 " bytes: a list, a partition "
			 "or a view moves them in one call",
			 100 * share, verb[way], w->stride[0].value);
		return true;
	}
	return false;
}

/* ---- opens ---- */

static bool reopened_file(const struct prof *all,
			  const struct advice_rule *rule, char *text,
			  size_t room)
{
	size_t i;

	for (i = 0; i < all->files; i++) {
		const struct prof_file *f = &all->file[i];
		double each = share_of(f->r.calls[PROFILE_OPEN], f->processes);

		if (f->r.calls[PROFILE_OPEN] < rule->least ||
		    each < rule->share)
			continue;
		snprintf(text, room,
			 "%s opens and closes %s %.0f times: keep it open",
			 f->processes > 1 ? "every process" : "a process",
			 *f->name ? f->name : f->id, each);
		return true;
	}
	return false;
}

/* ---- balance of the ranks ---- */

static bool one_rank(const struct prof *all, const struct advice_rule *rule,
		     char *text, size_t room)
{
	const struct prof_process *most = NULL;
	char who[320];
	size_t i;

	for (i = 0; i < all->processes; i++) {
		if (!most ||
		    prof_bytes(&all->process[i].r) > prof_bytes(&most->r))
			most = &all->process[i];
	}
	if (all->processes < 2 || most->rank < 0 ||
	    prof_bytes(&all->sum) < rule->least ||
	    share_of(prof_bytes(&most->r), prof_bytes(&all->sum)) < rule->share)
		return false;
	snprintf(text, room,
		 "%s moves %.0f %% of the bytes: let the others move their own",
		 prof_who(most, who, sizeof(who)),
		 100 * share_of(prof_bytes(&most->r), prof_bytes(&all->sum)));
	return true;
}

/* ---- names and flushes ---- */

static bool much_metadata(const struct prof *all,
			  const struct advice_rule *rule, char *text,
			  size_t room)
{
	const struct profile_record *r = &all->sum;
	uint64_t n = r->calls[PROFILE_OPEN] + r->calls[PROFILE_CLOSE] +
		     r->calls[PROFILE_STAT] + r->calls[PROFILE_META] +
		     r->calls[PROFILE_DIR] + r->calls[PROFILE_LOCK];
	double share = share_of(prof_meta_ns(r), prof_busy_ns(r));

	if (n < rule->least || share < rule->share)
		return false;
	snprintf(text, room,
		 "%.0f %% of the time in calls is names, attributes and opens "
		 "(%" PRIu64 " calls, %" PRIu64 " of them stat): fewer, larger "
		 "files, or readdir with attributes",
		 100 * share, n, r->calls[PROFILE_STAT]);
	return true;
}

static bool many_flushes(const struct prof *all, const struct advice_rule *rule,
			 char *text, size_t room)
{
	const struct profile_record *r = &all->sum;
	uint64_t writes = prof_moves(r, PROFILE_WRITES);
	double share = share_of(r->calls[PROFILE_FSYNC], writes);

	if (r->calls[PROFILE_FSYNC] < rule->least || share < rule->share)
		return false;
	snprintf(text, room,
		 "fsync is called %" PRIu64 " times for %" PRIu64
		 " writes: once after several writes does as well",
		 r->calls[PROFILE_FSYNC], writes);
	return true;
}

/* ---- the table: the one place of all thresholds ---- */

static const struct advice_rule rules[] = {
	{ "small-writes", 0.50, 100, "writes", small_writes },
	{ "small-reads", 0.50, 100, "reads", small_reads },
	{ "unaligned-writes", 0.50, 16, "writes of a stripe or more",
	  unaligned_writes },
	{ "unaligned-reads", 0.50, 16, "reads of a stripe or more",
	  unaligned_reads },
	{ "strided", 0.50, 100, "reads, or writes", strided_moves },
	/* times per process */
	{ "reopened", 16, 16, "opens of a file", reopened_file },
	{ "one-rank", 0.90, 1 << 20, "bytes of several ranks", one_rank },
	{ "metadata", 0.50, 1000, "calls by name", much_metadata },
	/* fsyncs per write */
	{ "flushes", 0.50, 16, "fsyncs", many_flushes },
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

int prof_advice(const struct prof *all, struct advice_line **lines)
{
	struct advice_line *list = calloc(RULES, sizeof(*list));
	size_t i;
	int n = 0;

	if (!list)
		return -1;
	for (i = 0; i < RULES; i++) {
		list[n].name = rules[i].name;
		n += rules[i].holds(all, &rules[i], list[n].text,
				    sizeof(list[n].text));
	}
	*lines = list;
	return n;
}
