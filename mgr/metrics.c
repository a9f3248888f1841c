/* SPDX-License-Identifier: BSD-2-Clause */
/* metrics.c - the manager's metrics, mainly of its database. */
#include "mgr/mgr_service.h"

#include "mgr/auth/auth.h"
#include "mgr/group/group.h"

static const struct timing no_event;

/*
 * Adds the rows of *c.  c NULL: the counts are not available now.  Then each row is empty, so
 * that later rows keep their positions.
 */
static void put_counts(const struct store_counts *c, struct rpc_metrics *m)
{
	static const struct store_counts unknown;
	const struct store_counts *n = c ? c : &unknown;
	const struct {
		const char *name;
		bool total;
		uint64_t n;
		const char *help;
	} row[] = {
		{ "db_cache_bytes", false, n->cache_bytes,
		  "Cache of the database." },
		{ "db_pages", false, n->pages, "Pages in it." },
		{ "db_dirty_pages", false, n->dirty,
		  "Pages that are not written yet." },
		{ "db_hits", true, n->hits, "Pages found in it." },
		{ "db_misses", true, n->misses,
		  "Pages that had to be read or made." },
		{ "db_written_pages", true, n->written,
		  "Pages that were written." },
		{ "db_evicted_pages", true, n->evicted,
		  "Pages that gave room." },
		{ "db_commits", true, n->commits,
		  "Transactions that were committed." },
		{ "db_aborts", true, n->aborts,
		  "Transactions that were undone." },
		{ "db_log_bytes", true, n->log_bytes,
		  "Bytes written to the log." },
		{ "db_log_unchecked_bytes", false, n->log_since,
		  "Log since the last checkpoint: a start reads it." },
		{ "db_log_flushes", true, n->log_flushes,
		  "Flushes of the log." },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (c)
			(row[i].total ? rpc_metrics_total
				      : rpc_metrics_now)(m, row[i].name, NULL,
							 NULL, row[i].n,
							 row[i].help);
		else
			rpc_metrics_times(m, row[i].name, "", "", &no_event,
					  row[i].help);
}

/* The largest lag of a voter, on the leader. */
static uint64_t most_lag(const struct member_status *s)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < s->n; i++)
		if (s->peers[i].voter && s->peers[i].lag > most)
			most = s->peers[i].lag;
	return most;
}

static unsigned int count_voters(const struct member_status *s, bool recent)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->n; i++)
		n += s->peers[i].voter && (!recent || s->peers[i].recent);
	return n;
}

/*
 * Adds the rows of the group.  Without a group, each row is empty, so that later rows keep their
 * positions.
 */
static void put_group(const struct mgr *mgr, struct rpc_metrics *m)
{
	struct member_status s = { 0 };

	if (mgr->group)
		mgr_group_get_status(mgr->group, &s);
	const struct {
		const char *name;
		uint64_t n;
		const char *help;
	} row[] = {
		{ "managers_leads", s.role == MEMBER_LEADER,
		  "1: this manager leads." },
		{ "managers_term", s.term, "Term of the group of managers." },
		{ "managers_voters", count_voters(&s, false),
		  "Managers that have a vote." },
		{ "managers_recent", count_voters(&s, true),
		  "Those that have answered recently." },
		{ "managers_lag_entries", most_lag(&s),
		  "Most entries that a voter lacks." },
		{ "managers_entries", s.committed,
		  "Entries of the managers' log that are committed." },
		{ "managers_log_bytes", s.log_bytes,
		  "Their log, on the disk of this manager." },
		{ "managers_log_max_bytes", s.log_limit, "Its limit." },
		{ "managers_log_full", s.log_full, "1: the log has no space." },
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (mgr->group)
			rpc_metrics_now(m, row[i].name, NULL, NULL, row[i].n,
					row[i].help);
		else
			rpc_metrics_times(m, row[i].name, "", "", &no_event,
					  row[i].help);
}

void service_metrics(void *arg, struct rpc_metrics *m)
{
	struct mgr *mgr = arg;
	struct store_counts counts;
	bool known = !store_get_counts(mgr->st, &counts);

	rpc_metrics_times(m, "flush", "of", "log",
			  mgr->fl ? flusher_flush_times(mgr->fl) : &no_event,
			  "Flushes to stable storage.");
	rpc_metrics_times(m, "flush", "of", "checkpoint",
			  store_checkpoint_times(mgr->st),
			  "Flushes to stable storage.");
	rpc_metrics_now(m, "auth_sys", NULL, NULL,
			mgr->conf.auth.mode == AUTH_SYS,
			"1: auth = sys, clients of other hosts are believed.");
	rpc_metrics_now(m, "queue_waiting", "queue", "log",
			mgr->fl ? flusher_count(mgr->fl) : 0,
			"Works that wait for a thread or a disk.");
	put_counts(known ? &counts : NULL, m);
	put_group(mgr, m);
	mgr_auth_metrics(mgr, m);
}
