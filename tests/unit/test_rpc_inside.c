/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_inside.c - what TIMES and GAUGES tell: each request once, by the way that its data
 * went; what the service has; and all of it within what a reply has room for.
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
static unsigned int gauges; /* that the service puts */

static void put(void *arg, struct rpc_gauges *g)
{
	(void)arg;
	for (unsigned int i = 0; i < gauges; i++)
		rpc_gauges_put(g, WIRE_G_ZONE_USED, i, 1000 + i);
}

/* Some places have nothing. */
static const struct timing *timed(void *arg, unsigned int i, unsigned int *what)
{
	(void)arg;
	*what = WIRE_TM_FLUSH + i;
	return i % 2 ? &timing : NULL;
}

static void setup(void)
{
	mock = (struct mock){ 0 };
	timing = (struct timing){ 0 };
	gauges = 3;
	rig = calloc(1, sizeof(*rig));
	rig_open(rig, "mock");
	rig->service.gauges = put;
	rig->service.timed = timed;
	rig_server_close(rig);
	rig_server_open(rig);
	mem = calloc(1, RIG_OBJECT);
	rail_mem_init(&area, mem, RIG_OBJECT, TP_REMOTE_WRITE | TP_REMOTE_READ);
	rig->area = &area;
}

static void teardown(void)
{
	rig_until(rig, rig->bulks == 0);
	rail_mem_fini(&area);
	rig_close(rig);
	free(mem);
}

/* ---- asking ---- */

/* The reply to a request of that kind, the number-th of the session. */
static void ask(unsigned int op, const void *body, size_t len,
		unsigned int number, struct wire_msg *msg)
{
	struct wire_out out;

	wire_begin(&out, raw.buf->out, RAW_MSG);
	wire_put(&out, body, len);
	len = (size_t)wire_end(&out, op, 0, 0);
	raw_hdr(&raw)->session = raw.priv.session;
	raw_hdr(&raw)->seq = htole64(number);
	raw_send(&raw, len);
	raw_until(&raw, raw.received == number + 1);
	ck_assert_int_eq(raw_status(&raw, number), 0);
	ck_assert_int_eq(wire_parse(raw.buf->in[number], raw.len, msg, NULL),
			 0);
}

static void greet(void)
{
	static uint64_t session = 0x100;

	raw_open(&raw, rig, ++session, 1);
	raw_greet(&raw);
}

static unsigned int ask_gauges(struct wire_gauge *list)
{
	struct wire_msg msg;

	greet();
	ask(WIRE_GAUGES, NULL, 0, 1, &msg);
	memcpy(list, msg.tail[0].ptr, msg.tail[0].len);
	raw_close(&raw);
	return (unsigned int)(msg.tail[0].len / sizeof(*list));
}

/* All, part by part: a reply here has room for a few. */
static unsigned int ask_times(struct wire_time *list)
{
	struct wire_times body = { 0 };
	unsigned int n = 0, number = 1;
	struct wire_msg msg;

	greet();
	do {
		const struct wire_times_rep *rep;

		ask(WIRE_TIMES, &body, sizeof(body), number++, &msg);
		rep = msg.body;
		ck_assert_uint_le(le32toh(rep->n), RAW_MSG / sizeof(*list));
		memcpy(list + n, msg.tail[0].ptr, msg.tail[0].len);
		n += le32toh(rep->n);
		ck_assert(!rep->next ||
			  le32toh(rep->next) > le32toh(body.from));
		body.from = rep->next;
	} while (body.from);
	raw_close(&raw);
	return n;
}

static const struct wire_time *find(const struct wire_time *list,
				    unsigned int n, unsigned int what,
				    unsigned int way)
{
	const struct wire_time *found = NULL;

	for (unsigned int i = 0; i < n; i++) {
		if (le32toh(list[i].what) != what || list[i].way != way)
			continue;
		ck_assert_ptr_null(found);
		found = &list[i];
	}
	ck_assert_msg(found != NULL, "nothing of %u by %u", what, way);
	return found;
}

static uint64_t in_buckets(const struct wire_time *t)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum += le64toh(t->bucket[i]);
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
	const struct rpc_told told[2] = {
		{ .n = 7, .bytes = 700, .ns = 70, .bucket = { 5, 0, 2 } }
	};
	const struct rpc_label who = { .uid = 1 };
	static struct wire_time list[WIRE_TIMES_ALL];
	const struct wire_time *t;
	unsigned int n;

	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 20000), 0);
	io(WIRE_WRITE, 100);
	io(WIRE_WRITE, LEN);
	io(WIRE_WRITE, LEN);
	io(WIRE_READ, LEN);
	rpc_server_told(rig->server, &who, told);
	n = ask_times(list);
	t = find(list, n, WIRE_TM_WRITE, WIRE_WAY_INLINE);
	ck_assert_uint_eq(le64toh(t->n), 1);
	ck_assert_uint_eq(le64toh(t->bytes), 100);
	t = find(list, n, WIRE_TM_WRITE, WIRE_WAY_BULK);
	ck_assert_uint_eq(le64toh(t->n), 2);
	ck_assert_uint_eq(in_buckets(t), 2);
	ck_assert_uint_eq(le64toh(t->bytes), 2 * LEN);
	ck_assert_uint_ge(le64toh(t->ns), le64toh(t->most));
	t = find(list, n, WIRE_TM_READ, WIRE_WAY_BULK);
	ck_assert_uint_eq(le64toh(t->n), 1);
	ck_assert_uint_ge(le64toh(t->bytes), LEN);
	t = find(list, n, WIRE_TM_READ, WIRE_WAY_DIRECT);
	ck_assert_uint_eq(le64toh(t->n), 7);
	ck_assert_uint_eq(le64toh(t->bytes), 700);
	ck_assert_uint_eq(le64toh(t->bucket[0]), 5);
	ck_assert_uint_eq(le64toh(t->bucket[2]), 2);
	ck_assert_uint_eq(in_buckets(t), 7);
	ck_assert_uint_eq(le64toh(t->most), histogram_floor(3));
	find(list, n, WIRE_TM_OTHER, WIRE_WAY_NONE);
}
END_TEST

/* What has not happened has no row. */
START_TEST(of_the_service)
{
	static struct wire_time list[WIRE_TIMES_ALL];
	const struct wire_time *t;
	unsigned int n = ask_times(list), more;

	for (unsigned int i = 0; i < n; i++)
		ck_assert_uint_lt(le32toh(list[i].what), WIRE_TM_FLUSH);
	timing_add(&timing, 5000, 3, true);
	timing_add(&timing, 1000000, 4, false);
	more = ask_times(list);
	ck_assert_uint_gt(more, n);
	t = find(list, more, WIRE_TM_FLUSH + 1, WIRE_WAY_NONE);
	ck_assert_uint_eq(le64toh(t->n), 2);
	ck_assert_uint_eq(le64toh(t->errors), 1);
	ck_assert_uint_eq(le64toh(t->bytes), 7);
	ck_assert_uint_eq(le64toh(t->ns), 1005000);
	ck_assert_uint_eq(le64toh(t->most), 1000000);
	ck_assert_uint_eq(le64toh(t->bucket[histogram_bucket(5000)]), 1);
	ck_assert_uint_eq(in_buckets(t), 2);
}
END_TEST

static uint64_t gauge_of(const struct wire_gauge *list, unsigned int n,
			 unsigned int name)
{
	for (unsigned int i = 0; i < n; i++)
		if (le32toh(list[i].name) == name)
			return le64toh(list[i].value);
	ck_abort_msg("no gauge %u", name);
	return 0;
}

START_TEST(gauges_are_told)
{
	struct wire_gauge list[WIRE_GAUGES_MAX];
	unsigned int n = ask_gauges(list);

	ck_assert_uint_eq(gauge_of(list, n, WIRE_G_RUNNING), 0);
	ck_assert_uint_ge(gauge_of(list, n, WIRE_G_CONNECTIONS), 1);
	ck_assert_uint_eq(gauge_of(list, n, WIRE_G_ZONE_USED), 1000);
	ck_assert_uint_eq(le32toh(list[n - 1].of), 2);
	ck_assert_uint_eq(le64toh(list[n - 1].value), 1002);
}
END_TEST

/* However many the service has. */
START_TEST(gauges_are_bounded)
{
	struct wire_gauge list[WIRE_GAUGES_MAX];

	gauges = 10000;
	ck_assert_uint_eq(ask_gauges(list), WIRE_GAUGES_MAX);
	ck_assert_uint_eq(rig_logged(rig, "error"), 0);
}
END_TEST

/* A request that was not answered for its client's end runs no more. */
START_TEST(none_is_left_running)
{
	struct wire_gauge list[WIRE_GAUGES_MAX];
	struct raw gone;

	raw_open(&gone, rig, 0x77, 1);
	raw_greet(&gone);
	raw_send(&gone, raw_release(&gone, 0, 1));
	raw_until(&gone, rig->nheld == 1);
	ck_assert_uint_eq(gauge_of(list, ask_gauges(list), WIRE_G_RUNNING), 1);
	raw_close(&gone);
	rig_answer(rig);
	ck_assert_uint_eq(gauge_of(list, ask_gauges(list), WIRE_G_RUNNING), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_inside");
	TCase *tc = tcase_create("inside");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, by_way);
	tcase_add_test(tc, of_the_service);
	tcase_add_test(tc, gauges_are_told);
	tcase_add_test(tc, gauges_are_bounded);
	tcase_add_test(tc, none_is_left_running);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
