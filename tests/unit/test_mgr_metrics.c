/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_metrics.c - each row of the manager's metrics has a fixed place, also if the store
 * fails, and without a group of managers.
 */
#include <errno.h>
#include <string.h>

#include "mgr/group/group.h"
#include "mgr/mgr_service.h"
#include "tests/run_suite.h"

#define ROWS_MAX 64u

struct rpc_metrics {
	const char *name[ROWS_MAX]; /* by place; NULL: no row */
	unsigned int places;
};

static int store_status;
static struct timing flushes = { .n = 1 };

int __wrap_store_get_counts(struct store *st, struct store_counts *counts);
const struct timing *__wrap_store_checkpoint_times(const struct store *st);
const struct timing *__wrap_flusher_flush_times(const struct flusher *fl);
uint64_t __wrap_flusher_count(struct flusher *fl);
void __wrap_mgr_auth_metrics(const struct mgr *mgr, struct rpc_metrics *m);
void __wrap_mgr_group_get_status(struct mgr_group *g,
				 struct member_status *status);
void __wrap_rpc_metrics_now(struct rpc_metrics *m, const char *name,
			    const char *by, const char *of, uint64_t n,
			    const char *help);
void __wrap_rpc_metrics_total(struct rpc_metrics *m, const char *name,
			      const char *by, const char *of, uint64_t n,
			      const char *help);
void __wrap_rpc_metrics_times(struct rpc_metrics *m, const char *name,
			      const char *by, const char *of,
			      const struct timing *timing, const char *help);

int __wrap_store_get_counts(struct store *st, struct store_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	return store_status;
}

const struct timing *__wrap_store_checkpoint_times(const struct store *st)
{
	return &flushes;
}

const struct timing *__wrap_flusher_flush_times(const struct flusher *fl)
{
	return &flushes;
}

uint64_t __wrap_flusher_count(struct flusher *fl)
{
	return 0;
}

static void add_row(struct rpc_metrics *m, const char *name)
{
	ck_assert_uint_lt(m->places, ROWS_MAX);
	m->name[m->places++] = name;
}

void __wrap_rpc_metrics_now(struct rpc_metrics *m, const char *name,
			    const char *by, const char *of, uint64_t n,
			    const char *help)
{
	add_row(m, name);
}

void __wrap_rpc_metrics_total(struct rpc_metrics *m, const char *name,
			      const char *by, const char *of, uint64_t n,
			      const char *help)
{
	add_row(m, name);
}

void __wrap_rpc_metrics_times(struct rpc_metrics *m, const char *name,
			      const char *by, const char *of,
			      const struct timing *timing, const char *help)
{
	add_row(m, timing->n ? name : NULL);
}

void __wrap_mgr_auth_metrics(const struct mgr *mgr, struct rpc_metrics *m)
{
	add_row(m, "ticket_refusals");
}

void __wrap_mgr_group_get_status(struct mgr_group *g,
				 struct member_status *status)
{
	memset(status, 0, sizeof(*status));
}

/* All functions that would use the flusher or the group are replaced. */
static char part;

static struct rpc_metrics metrics_of(bool grouped, int status)
{
	static struct mgr mgr;
	struct rpc_metrics m = { .places = 0 };

	mgr.fl = (struct flusher *)&part;
	mgr.group = grouped ? (struct mgr_group *)&part : NULL;
	store_status = status;
	service_metrics(&mgr, &m);
	return m;
}

/* Checks that the absent rows are exactly those with this prefix. */
static void check_absent(const struct rpc_metrics *all,
			 const struct rpc_metrics *some, const char *begin)
{
	ck_assert_uint_eq(all->places, some->places);
	for (unsigned int i = 0; i < all->places; i++) {
		ck_assert_ptr_nonnull(all->name[i]);
		if (strncmp(all->name[i], begin, strlen(begin)) == 0)
			ck_assert_ptr_null(some->name[i]);
		else
			ck_assert_str_eq(some->name[i], all->name[i]);
	}
}

START_TEST(test_places)
{
	const struct rpc_metrics all = metrics_of(true, 0);
	const struct rpc_metrics failed = metrics_of(true, -EIO);
	const struct rpc_metrics alone = metrics_of(false, 0);

	check_absent(&all, &failed, "db_");
	check_absent(&all, &alone, "managers_");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_metrics");
	TCase *tc = tcase_create("mgr_metrics");

	tcase_add_test(tc, test_places);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
