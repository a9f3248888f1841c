/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * term.c - terms: the numbers of the runs of this manager.  A message of an earlier run
 * may still be on its way to an iod, and a late truncation would destroy what was
 * written since.  So each run has a higher term than all earlier runs, recorded before
 * its first use.  Iods obey the highest term that has claimed them.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "mgr/jobs/jobs_int.h"
#include "common/util/random_id.h"

/*
 * With several managers: the term of the leader in their log plus a base.  The log of a new group
 * counts terms from 1 again, but the iods may already obey a higher term.
 */
static int grouped_term(struct mgr *mgr, uint64_t last, uint64_t *term)
{
	uint64_t base = last;
	int rc = meta_get_u64(mgr->st, "term_base", &base);

	*term = base + mgr->group_term;
	if (!rc && *term > last)
		return 0;
	*term = last + mgr->group_term;
	return rc && rc != -ENOENT ? rc
				   : meta_put_u64(mgr->st, "term_base", last);
}

static int next_term(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;
	uint64_t last = 0;
	int rc = meta_get_u64(mgr->st, "term", &last);

	if (rc && rc != -ENOENT)
		return rc;
	jobs->term = last + 1;
	rc = mgr->group_term ? grouped_term(mgr, last, &jobs->term) : 0;
	return rc ? rc : meta_put_u64(mgr->st, "term", jobs->term);
}

/*
 * Checks whether another manager has displaced this one.  Each start has a higher term, so
 * without this check the next start could displace the other manager in turn.
 */
static int check_displaced(struct mgr *mgr)
{
	uint64_t term;
	int rc = meta_get_u64(mgr->st, TERM_DISPLACED, &term);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	mgr->retired = true;
	if (term && mgr->group)
		log_error(mgr->log,
			  "the database in %s was displaced by a manager that "
			  "was recovered from another storage (pvfs-mgr "
			  "--recover), or that has another copy of it: empty "
			  "this storage, and start this manager again to join "
			  "that one",
			  mgr->conf.storage);
	else if (term)
		log_error(mgr->log,
			  "the database in %s was displaced: the iods obey a "
			  "manager of another copy of it; remove this copy if "
			  "the other one is meant to serve, or make this one "
			  "go on in its place (also a copy from a backup): "
			  "pvfs-mgr --restore",
			  mgr->conf.storage);
	else
		log_error(mgr->log,
			  "the database in %s was not restored to the end: "
			  "start all iods, then pvfs-mgr --restore",
			  mgr->conf.storage);
	return -ESTALE;
}

static int put_displaced(struct mgr *mgr)
{
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	rc = meta_put_u64(mgr->st, TERM_DISPLACED, mgr->jobs->term);
	rc = mgr_end_transaction(mgr, rc, NULL);
	return rc ? rc : flusher_wait(mgr->fl);
}

void jobs_note_displaced(struct mgr *mgr)
{
	int rc = put_displaced(mgr);

	if (rc)
		log_error(mgr->log,
			  "cannot record in %s that another manager has the "
			  "iods: %s; do not start this one again",
			  mgr->conf.storage, strerror(-rc));
}

static int note_begun(struct mgr *mgr)
{
	mgr->jobs->begun = clock_boot();
	return meta_put_u64(mgr->st, "clock_begun", mgr->jobs->begun);
}

/* An earlier release did not record clock_begun. */
static int load_clock(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;
	int rc = meta_get_u64(mgr->st, "clock_since", &jobs->since);

	if (!rc)
		rc = meta_get_u64(mgr->st, "clock_begun", &jobs->begun);
	return rc == -ENOENT ? note_begun(mgr) : rc;
}

/*
 * Records since which term times are on this clock_boot(), which is another one after a reboot and
 * in another time namespace.
 */
static int note_clock(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;
	uint64_t clock = 0;
	int rc = meta_get_u64(mgr->st, "clock", &clock);

	if (!rc && clock == mgr->clock)
		return load_clock(mgr);
	if (rc && rc != -ENOENT)
		return rc;
	jobs->since = jobs->term;
	rc = meta_put_u64(mgr->st, "clock", mgr->clock);
	if (!rc)
		rc = meta_put_u64(mgr->st, "clock_since", jobs->since);
	return rc ? rc : note_begun(mgr);
}

/* An iod may have a lease of an earlier run; we know only its length. */
static int note_lease(struct mgr *mgr)
{
	uint64_t now = mgr->conf.lease_s, before = now;
	int rc = meta_get_u64(mgr->st, "lease", &before);

	if (rc && rc != -ENOENT)
		return rc;
	mgr->jobs->lease_before_s = before > now ? before : now;
	return before == now && !rc ? 0 : meta_put_u64(mgr->st, "lease", now);
}

#define RANDOM_BITS 20u /* the other bits are milliseconds since 1970 */

/*
 * Two managers on two copies of a database may have the same term.  Then the iods obey
 * the one with the lower session: the one that started first, because it has
 * acknowledged more.  If both started in the same millisecond, they obey either one.
 */
static int session_id(uint64_t *id)
{
	struct timespec now;
	uint64_t n;
	int rc = random_id(&n);

	if (rc)
		return rc;
	clock_gettime(CLOCK_REALTIME, &now);
	*id = ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000)
		      << RANDOM_BITS |
	      n >> (64 - RANDOM_BITS);
	return 0;
}

int term_open(struct mgr *mgr)
{
	struct mgr_jobs *jobs = mgr->jobs;
	int rc = check_displaced(mgr);

	if (!rc)
		rc = session_id(&jobs->session);
	if (!rc)
		rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	jobs->first_id = store_new_id(mgr->st);
	rc = next_term(mgr);
	if (!rc)
		rc = note_clock(mgr);
	if (!rc)
		rc = note_lease(mgr);
	rc = mgr_end_transaction(mgr, rc, NULL);
	return rc ? rc : flusher_wait(mgr->fl);
}

uint64_t jobs_term(const struct mgr *mgr)
{
	return mgr->jobs->term;
}

uint64_t jobs_clock_of(const struct mgr *mgr, uint64_t term)
{
	return term < mgr->jobs->since ? mgr->jobs->begun : 0;
}
