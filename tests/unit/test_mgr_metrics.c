/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_metrics.c - each row of the manager's metrics has one place, also if the store fails. */
#include <errno.h>
#include <string.h>

#include "mgr/mgr_service.h"
#include "tests/run_suite.h"

#define ROWS_MAX 64u

struct rpc_metrics {
	const char *name[ROWS_MAX]; /* by place; NULL: the row is absent */
	unsigned int places;
};

static int store_status;
static struct timing flushes = { .n = 1 };

int __wrap_store_get_counts(struct store *st, struct store_counts *counts);
const struct timing *__wrap_store_checkpoint_times(const struct store *st);
const struct timing *__wrap_flusher_flush_times(const struct flusher *fl);
uint64_t __wrap_flusher_count(struct flusher *fl);
void __wrap_mgr_auth_metrics(const struct mgr *mgr, struct rpc_metrics *m);
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

START_TEST(test_places)
{
	static struct mgr mgr;
	struct rpc_metrics good = { .places = 0 }, failed = { .places = 0 };
	unsigned int absent = 0;

	store_status = 0;
	service_metrics(&mgr, &good);
	store_status = -EIO;
	service_metrics(&mgr, &failed);
	ck_assert_uint_eq(good.places, failed.places);
	for (unsigned int i = 0; i < good.places; i++) {
		ck_assert_ptr_nonnull(good.name[i]);
		if (failed.name[i])
			ck_assert_str_eq(failed.name[i], good.name[i]);
		else
			ck_assert_int_eq(strncmp(good.name[i], "db_", 3), 0);
		absent += !failed.name[i];
	}
	ck_assert_uint_gt(absent, 0);
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
