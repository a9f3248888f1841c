/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_metrics.c - METRICS reports each request once, by its operation and by the way of its
 * data.  It also reports files and the service's own rows, on several pages if necessary, each row
 * once.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

#define LEN (256u << 10)

static struct rig *rig;
static struct raw raw;
static uint8_t *mem;
static struct rail_mem area;
static struct timing timing;
static bool asked; /* raw is open */
static bool administrators; /* ask() is done as an administrator */
static unsigned int numbers; /* number of rows that the service adds */

static void put(void *arg, struct rpc_metrics *m)
{
	char of[16];

	(void)arg;
	rpc_metrics_times(m, "flush", "of", "object", &timing, "Flushes.");
	for (unsigned int i = 0; i < numbers; i++) {
		snprintf(of, sizeof(of), "%u", i);
		(i % 2 ? rpc_metrics_total : rpc_metrics_now)(m, "number", "of",
							      of, 1000 + i,
							      "Numbers.");
	}
}

/* The file of each request. */
static uint64_t object(const struct rpc_req *req)
{
	return wire_op_writes(req->op) ? 0xabc : 0;
}

static void name(void *arg, uint64_t handle, uint8_t *name)
{
	(void)arg;
	ck_assert_uint_eq(handle, 0xabc);
	memset(name, 'n', WIRE_METRIC_NAME);
}

static bool sees_all(void *arg, struct rpc_session *session)
{
	(void)arg;
	(void)session;
	return administrators;
}

static void setup(void)
{
	mock = (struct mock){ 0 };
	timing = (struct timing){ 0 };
	numbers = 3;
	rig = calloc(1, sizeof(*rig));
	rig_open(rig, "mock");
	rig->service.metrics = put;
	rig->service.object = object;
	rig->service.name = name;
	rig->service.sees_all = sees_all;
	rig_server_close(rig);
	rig_server_open(rig);
	mem = calloc(1, RIG_OBJECT);
	rail_mem_init(&area, mem, RIG_OBJECT, TP_REMOTE_WRITE | TP_REMOTE_READ);
	rig->area = &area;
}

static void teardown(void)
{
	if (asked)
		raw_close(&raw);
	asked = false;
	rig_until(rig, rig->bulks == 0);
	rail_mem_fini(&area);
	rig_close(rig);
	free(mem);
}

/* ---- asking ---- */

#define ROWS 600u
#define ALL (WIRE_MG_OPS | WIRE_MG_USERS | WIRE_MG_FILES | WIRE_MG_INSIDE)

static struct raw_metric list[ROWS];

/* Reads all rows; they are valid until the next ask(). */
static unsigned int ask(uint32_t groups)
{
	static uint64_t session = 0x100;

	if (asked)
		raw_close(&raw);
	asked = true;
	raw_open(&raw, rig, ++session, 1);
	raw_greet(&raw);
	return raw_metrics(&raw, 1, groups, list, ROWS);
}

static uint64_t in_buckets(const struct raw_metric *m)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum += m->bucket[i];
	return sum;
}

/* ---- the tests ---- */

static void io(unsigned int op, uint64_t len)
{
	static const struct tp_mr none;
	struct rig_call c;

	rig_io(rig, &c, op, 0, mem, len, &none, 2, 20000);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
}

START_TEST(by_way)
{
	const struct rpc_direct_io told[2] = {
		{ .n = 7, .bytes = 700, .ns = 70, .bucket = { 5, 0, 2 } }
	};
	const struct rpc_label who = { .uid = 1 };
	const struct raw_metric *t;
	unsigned int n;

	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 20000), 0);
	io(WIRE_WRITE, 100);
	io(WIRE_WRITE, LEN);
	io(WIRE_WRITE, LEN);
	io(WIRE_READ, LEN);
	rpc_server_add_direct_io(rig->server, &who, told);
	n = ask(WIRE_MG_INSIDE);
	t = raw_metric_of(list, n, "way", "write", "inline");
	ck_assert_uint_eq(t->n, 1);
	ck_assert_uint_eq(t->bytes_in, 100);
	t = raw_metric_of(list, n, "way", "write", "bulk");
	ck_assert_uint_eq(t->n, 2);
	ck_assert_uint_eq(in_buckets(t), 2);
	ck_assert_uint_eq(t->bytes_in, 2 * LEN);
	ck_assert_uint_eq(t->bytes_out, 0);
	ck_assert_uint_ge(t->ns, t->most);
	t = raw_metric_of(list, n, "way", "read", "bulk");
	ck_assert_uint_eq(t->n, 1);
	ck_assert_uint_ge(t->bytes_out, LEN);
	ck_assert_uint_eq(t->bytes_in, 0);
	t = raw_metric_of(list, n, "way", "read", "direct");
	ck_assert_uint_eq(t->n, 7);
	ck_assert_uint_eq(t->bytes_out, 700);
	ck_assert_uint_eq(t->bucket[0], 5);
	ck_assert_uint_eq(t->bucket[2], 2);
	ck_assert_uint_eq(in_buckets(t), 7);
	ck_assert_uint_eq(t->most, histogram_floor(3));
	raw_metric_of(list, n, "way", "other", "none");
}
END_TEST

START_TEST(by_operation_and_file)
{
	const struct raw_metric *t;
	unsigned int n;

	io(WIRE_WRITE, 100);
	io(WIRE_WRITE, LEN);
	n = ask(WIRE_MG_FILES);
	ck_assert_uint_eq(n, 0); /* not visible to other users */
	administrators = true;
	n = ask(WIRE_MG_OPS | WIRE_MG_FILES);
	t = raw_metric_of(list, n, "requests", "WRITE", "");
	ck_assert_uint_eq(t->kind, WIRE_MK_TIMES);
	ck_assert_uint_eq(t->n, 2);
	ck_assert_uint_eq(in_buckets(t), 2);
	ck_assert_uint_eq(t->bytes_in, 100 + LEN);
	t = raw_metric_of(list, n, "file", "0000000000000abc", "");
	ck_assert_uint_eq(t->n, 2);
	ck_assert_uint_eq(t->bytes_in, 100 + LEN);
	ck_assert_uint_eq(t->labels, 2);
	ck_assert_uint_eq(strlen(t->label[3]), WIRE_METRIC_NAME);
	for (unsigned int i = 0; i < n; i++)
		ck_assert(!strcmp(list[i].name, "requests") ||
			  !strcmp(list[i].name, "file"));
}
END_TEST

/* Events that have not happened have no row. */
START_TEST(of_the_service)
{
	const struct raw_metric *t;
	unsigned int n = ask(WIRE_MG_INSIDE);

	for (unsigned int i = 0; i < n; i++)
		ck_assert_str_ne(list[i].name, "flush");
	timing_add(&timing, 5000, 3, true);
	timing_add(&timing, 1000000, 4, false);
	n = ask(WIRE_MG_INSIDE);
	t = raw_metric_of(list, n, "flush", "object", "");
	ck_assert_uint_eq(t->n, 2);
	ck_assert_uint_eq(t->errors, 1);
	ck_assert_uint_eq(t->bytes_in, 7);
	ck_assert_uint_eq(t->ns, 1005000);
	ck_assert_uint_eq(t->most, 1000000);
	ck_assert_uint_eq(t->bucket[histogram_bucket(5000)], 1);
	ck_assert_uint_eq(in_buckets(t), 2);
}
END_TEST

static uint64_t number_of(const char *name)
{
	unsigned int n = ask(WIRE_MG_INSIDE);

	return raw_metric_of(list, n, name, "", "")->n;
}

START_TEST(numbers_are_told)
{
	unsigned int n = ask(WIRE_MG_INSIDE);

	ck_assert_uint_ge(raw_metric_of(list, n, "connections", "", "")->n, 1);
	ck_assert_uint_eq(raw_metric_of(list, n, "requests_running", "", "")->n,
			  0);
	ck_assert_uint_eq(raw_metric_of(list, n, "number", "0", "")->n, 1000);
	ck_assert_str_eq(list[n - 1].label[0], "of");
	ck_assert_str_eq(list[n - 1].label[1], "2");
	ck_assert_uint_eq(list[n - 1].kind, WIRE_MK_NOW);
	ck_assert_uint_eq(list[n - 1].n, 1002);
}
END_TEST

/* A reply has room for only a part of the rows. */
START_TEST(each_row_once)
{
	unsigned int n, pages;

	numbers = 400;
	timing_add(&timing, 5000, 3, true);
	io(WIRE_WRITE, 100);
	n = ask(ALL);
	pages = raw.received - 1;
	ck_assert_uint_gt(pages, 8);
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = i + 1; k < n; k++)
			ck_assert(
				strcmp(list[i].name, list[k].name) ||
				list[i].labels != list[k].labels ||
				!list[i].labels ||
				strcmp(list[i].label[1], list[k].label[1]) ||
				strcmp(list[i].label[2 * list[i].labels - 1],
				       list[k].label[2 * list[k].labels - 1]));
	for (unsigned int i = 0; i < numbers; i++) {
		char of[16];

		snprintf(of, sizeof(of), "%u", i);
		ck_assert_uint_eq(raw_metric_of(list, n, "number", of, "")->n,
				  1000 + i);
	}
	raw_metric_of(list, n, "flush", "object", "");
	raw_metric_of(list, n, "requests", "WRITE", "");
	ck_assert_uint_eq(rig_logged(rig, "error"), 0);
}
END_TEST

/* A request whose client has ended no longer counts as running. */
START_TEST(none_is_left_running)
{
	struct raw gone;

	raw_open(&gone, rig, 0x77, 1);
	raw_greet(&gone);
	raw_send(&gone, raw_release(&gone, 0, 1));
	raw_until(&gone, rig->nheld == 1);
	ck_assert_uint_eq(number_of("requests_running"), 1);
	raw_close(&gone);
	rig_answer(rig);
	ck_assert_uint_eq(number_of("requests_running"), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_metrics");
	TCase *tc = tcase_create("metrics");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, by_way);
	tcase_add_test(tc, by_operation_and_file);
	tcase_add_test(tc, of_the_service);
	tcase_add_test(tc, numbers_are_told);
	tcase_add_test(tc, each_row_once);
	tcase_add_test(tc, none_is_left_running);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
