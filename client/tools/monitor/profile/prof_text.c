/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_text.c - the summary for people. */
#include <inttypes.h>

#include "client/tools/monitor/profile/prof.h"
#include "client/tools/common/tool.h"

static double to_seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* ---- head ---- */

static uint64_t longest_run_ns(const struct prof *all)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < all->processes; i++) {
		if (all->process[i].run_ns > most)
			most = all->process[i].run_ns;
	}
	return most;
}

static int64_t most_ranks(const struct prof *all)
{
	int64_t most = -1;
	size_t i;

	for (i = 0; i < all->processes; i++) {
		if (all->process[i].ranks > most)
			most = all->process[i].ranks;
	}
	return most;
}

static void print_head(const struct prof *all)
{
	int64_t n = most_ranks(all);

	tool_line(stdout, "%s: %zu process%s", all->process[0].program,
		  all->processes, all->processes == 1 ? "" : "es");
	if (n > 0)
		printf(" of %" PRId64 " ranks", n);
	printf(", %.3f s, %zu file%s\n", to_seconds(longest_run_ns(all)),
	       all->files, all->files == 1 ? "" : "s");
}

/* ---- calls ---- */

static void print_calls(const struct profile_record *r)
{
	unsigned int i;

	printf("\n%-12s %12s %12s\n", "call", "calls", "seconds");
	for (i = 0; i < PROFILE_KINDS; i++) {
		if (r->calls[i])
			printf("%-12s %12" PRIu64 " %12.6f\n",
			       profile_kind_name[i], r->calls[i],
			       to_seconds(r->ns[i]));
	}
	printf("errors %" PRIu64 ", pieces of lists %" PRIu64
	       ", slowest call: %s, %.6f s\n",
	       r->errors, r->pieces, profile_kind_name[r->slowest],
	       to_seconds(r->slowest_ns));
	printf("time in names %.6f s, in reads %.6f, in writes %.6f, waiting "
	       "for requests %.6f\n",
	       to_seconds(prof_meta_ns(r)),
	       to_seconds(r->ns[PROFILE_READ] + r->ns[PROFILE_LIST_READ]),
	       to_seconds(r->ns[PROFILE_WRITE] + r->ns[PROFILE_LIST_WRITE]),
	       to_seconds(r->ns[PROFILE_WAIT]));
}

/* ---- transfers ---- */

static void print_common(const char *what,
			 const struct profile_common c[PROFILE_COMMON])
{
	unsigned int i;

	if (!c[0].count)
		return;
	printf("  %s", what);
	for (i = 0; i < PROFILE_SHOWN && c[i].count; i++)
		printf("%s %" PRId64 " (%" PRIu64 " times)", i ? "," : "",
		       c[i].value, c[i].count);
	printf("\n");
}

static void print_way(const char *what, const struct profile_record *r, int i)
{
	const struct profile_way *w = &r->way[i];
	char human[32];

	if (!prof_moves(r, i))
		return;
	printf("\n%s: %" PRIu64 " calls, %s; sequential %" PRIu64
	       ", consecutive %" PRIu64 ", strided %" PRIu64
	       ", begun within a stripe %" PRIu64 "\n",
	       what, prof_moves(r, i), tool_human(w->bytes, human),
	       w->sequential, w->consecutive, w->strided, w->unaligned);
	print_common("sizes", w->size);
	print_common("steps", w->stride);
}

static void print_histogram(const struct profile_record *r)
{
	unsigned int i;

	if (!prof_moves(r, PROFILE_READS) && !prof_moves(r, PROFILE_WRITES))
		return;
	printf("\n%-12s %12s %12s\n", "bytes", "reads", "writes");
	for (i = 0; i < PROFILE_SIZES; i++) {
		if (r->way[0].sizes[i] || r->way[1].sizes[i])
			printf("%-12s %12" PRIu64 " %12" PRIu64 "\n",
			       prof_size_name[i], r->way[0].sizes[i],
			       r->way[1].sizes[i]);
	}
}

/* ---- files and processes ---- */

static void print_files(const struct prof *all, size_t most)
{
	char in[32], out[32];
	size_t i;

	if (!all->files)
		return;
	printf("\n%9s %9s %8s %9s %-6s file\n", "read", "written", "opens",
	       "processes", "");
	for (i = 0; i < all->files && i < most; i++) {
		const struct prof_file *f = &all->file[i];

		tool_line(stdout, "%9s %9s %8" PRIu64 " %9u %-6s %s\n",
			  tool_human(f->r.way[0].bytes, in),
			  tool_human(f->r.way[1].bytes, out),
			  f->r.calls[PROFILE_OPEN], f->processes,
			  f->processes > 1 ? "shared" : "own",
			  *f->name ? f->name : f->id);
	}
	if (all->files > most)
		printf("and %zu more\n", all->files - most);
}

static void left_out(const struct prof *all)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < all->processes; i++)
		n += all->process[i].left_out;
	if (n)
		printf("%" PRIu64
		       " opens were of files beyond the 1024 that are "
		       "told apart: they are in the sums alone\n",
		       n);
}

static void print_processes(const struct prof *all, size_t most)
{
	const struct prof_process *slow = prof_slowest(all);
	char in[32], out[32], who[320];
	size_t i;

	if (all->processes < 2)
		return;
	printf("\n%9s %9s %12s %12s  process\n", "read", "written",
	       "s in calls", "s in all");
	for (i = 0; i < all->processes; i++) {
		const struct prof_process *p = &all->process[i];

		if (i >= most && p != slow)
			continue;
		tool_line(stdout, "%9s %9s %12.6f %12.6f  %s%s\n",
			  tool_human(p->r.way[0].bytes, in),
			  tool_human(p->r.way[1].bytes, out),
			  to_seconds(prof_busy_ns(&p->r)),
			  to_seconds(p->run_ns), prof_who(p, who, sizeof(who)),
			  p == slow ? " (slowest)" : "");
	}
	if (all->processes > most)
		printf("and others, %zu in all\n", all->processes);
}

void prof_text(const struct prof *all, const struct advice_line *advice, int n,
	       size_t most)
{
	int i;

	print_head(all);
	print_calls(&all->sum);
	print_way("reads", &all->sum, PROFILE_READS);
	print_way("writes", &all->sum, PROFILE_WRITES);
	print_histogram(&all->sum);
	print_files(all, most);
	left_out(all);
	print_processes(all, most);
	if (n)
		printf("\n");
	for (i = 0; i < n; i++)
		tool_line(stdout, "advice: %s\n", advice[i].text);
}
