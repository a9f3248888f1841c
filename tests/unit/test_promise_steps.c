/* SPDX-License-Identifier: BSD-2-Clause */
/* test_promise_steps.c - single steps of promises; test_promises.c has random ones. */
#include <check.h>
#include <errno.h>

#include "common/util/clock.h"
#include "server/copyset/promises.h"
#include "tests/run_suite.h"

#define IODS 3u
#define LEASE (1000 * CLOCK_NS_PER_MS)

static struct promises *iod[IODS];
static uint64_t now; /* the clock of all */

static struct copyset row_of(uint32_t version, enum copyset_state first,
			     enum copyset_state second)
{
	return (struct copyset){ .id = COPYSET_FIRST,
				 .version = version,
				 .n = 2,
				 .member = { { .iod = 0, .state = first },
					     { .iod = 1, .state = second } } };
}

static void assign(uint32_t version, enum copyset_state first,
		   enum copyset_state second)
{
	struct copyset row = row_of(version, first, second);

	for (unsigned int i = 0; i < 2; i++)
		ck_assert_int_eq(promises_set_row(iod[i], &row), 0);
}

/* Returns the number of promises. */
static uint32_t ask(unsigned int from, unsigned int to)
{
	struct promise_head head;
	struct promise list[IODS];
	uint32_t n = promises_ask(iod[from], to, 0, now, &head, list, IODS);

	n = promises_answer(iod[to], from, &head, list, n, now);
	promises_accept(iod[from], to, &head, list, n, now);
	return n;
}

/* 0: not now. */
static uint64_t span_end(struct promises_span span)
{
	return promises_span_has(&span, now) ? span.until : 0;
}

static uint64_t serve_until(unsigned int i)
{
	return span_end(promises_serve_span(iod[i], COPYSET_FIRST));
}

static uint64_t lend_until(unsigned int i)
{
	return span_end(promises_lend_span(iod[i], COPYSET_FIRST));
}

/* iod 0 is the primary, and serves. */
static void setup(void)
{
	now = 5 * LEASE;
	for (unsigned int i = 0; i < IODS; i++) {
		struct promises_attr attr = { .iod = i,
					      .process = 100 + i,
					      .lease = LEASE,
					      .copysets_max = 1 };

		ck_assert_int_eq(promises_open(&attr, now, &iod[i]), 0);
	}
	assign(1, COPYSET_SERVING, COPYSET_SERVING);
	ck_assert_uint_eq(ask(0, 1), 1);
	ck_assert_uint_eq(serve_until(0), 0); /* it has just started */
	now += LEASE;
	ck_assert_uint_eq(ask(0, 1), 1);
	ck_assert_uint_eq(serve_until(0), now + LEASE / 4 * 3);
}

static void teardown(void)
{
	for (unsigned int i = 0; i < IODS; i++)
		promises_close(iod[i]);
}

/* No wait, because iod 0 agrees to the new row. */
START_TEST(test_hand_over)
{
	assign(2, COPYSET_SYNCING, COPYSET_SERVING);
	ck_assert_uint_eq(serve_until(0), 0);
	ck_assert_uint_eq(serve_until(1), 0);
	ck_assert_uint_eq(ask(1, 0), 1);
	ck_assert_uint_eq(serve_until(1), now + LEASE / 4 * 3);
	assign(3, COPYSET_SERVING, COPYSET_SERVING);
	ck_assert_uint_eq(ask(0, 1), 1);
	ck_assert_uint_eq(serve_until(0), now + LEASE / 4 * 3);
	assign(4, COPYSET_OFFLINE, COPYSET_SERVING); /* an orderly stop */
	ck_assert_uint_eq(ask(1, 0), 1);
	ck_assert_uint_eq(serve_until(1), UINT64_MAX);
}
END_TEST

START_TEST(test_silent_primary)
{
	assign(2, COPYSET_OFFLINE, COPYSET_SERVING);
	now += LEASE - 1;
	ck_assert_uint_eq(serve_until(1), 0);
	now += 1;
	ck_assert_uint_eq(serve_until(1), UINT64_MAX);
}
END_TEST

/* The row of a primary that stays: it goes on, as far as members have promised. */
START_TEST(test_change_of_members)
{
	uint64_t until = serve_until(0);

	now += LEASE / 2;
	assign(2, COPYSET_SERVING, COPYSET_SYNCING);
	ck_assert_uint_eq(serve_until(0), until);
	assign(3, COPYSET_SERVING, COPYSET_OFFLINE);
	ck_assert_uint_eq(serve_until(0), UINT64_MAX);
	now += LEASE;
	assign(4, COPYSET_SERVING, COPYSET_SYNCING);
	ck_assert_uint_eq(serve_until(0), 0);
}
END_TEST

/* An answer that came twice, the second time after its promise had ended: it does not count. */
START_TEST(test_delayed_answer)
{
	struct promise_head head;
	struct promise list[IODS];
	uint32_t n;

	promises_set_lent(iod[0], COPYSET_FIRST, true);
	n = promises_ask(iod[0], 1, 0, now, &head, list, IODS);
	n = promises_answer(iod[1], 0, &head, list, n, now);
	promises_accept(iod[0], 1, &head, list, n, now);
	assign(2, COPYSET_SYNCING, COPYSET_SERVING);
	ck_assert_uint_eq(ask(1, 0), 1);
	assign(3, COPYSET_SERVING, COPYSET_SERVING);
	ck_assert_uint_eq(ask(0, 1), 1);
	promises_set_lent(iod[0], COPYSET_FIRST, true);
	ck_assert_uint_eq(lend_until(0), 0);
	promises_accept(iod[0], 1, &head, list, n, now);
	ck_assert_uint_eq(lend_until(0), 0);
}
END_TEST

/* Only promises to the process that ended are void, and only those without LENT. */
START_TEST(test_ended_process)
{
	assign(2, COPYSET_OFFLINE, COPYSET_SERVING);
	promises_end_process(iod[1], 0, 99);
	promises_end_process(iod[1], 2, 100);
	ck_assert_uint_eq(serve_until(1), 0);
	promises_end_process(iod[1], 0, 100);
	ck_assert_uint_eq(serve_until(1), UINT64_MAX);
}
END_TEST

/* A delayed request of the process that ended makes nothing void of the new process. */
START_TEST(test_two_processes)
{
	struct promise_head old = { .process = 99, .lease = LEASE };
	struct promise list = { .copyset = COPYSET_FIRST, .version = 1 };

	ck_assert_uint_eq(promises_answer(iod[1], 0, &old, &list, 1, now), 1);
	assign(2, COPYSET_OFFLINE, COPYSET_SERVING);
	promises_end_process(iod[1], 0, 99);
	ck_assert_uint_eq(serve_until(1), 0);
}
END_TEST

START_TEST(test_loans)
{
	ck_assert_uint_eq(lend_until(0), 0);
	promises_set_lent(iod[0], COPYSET_FIRST, true);
	ck_assert_uint_eq(lend_until(0), 0);
	now += LEASE / 4;
	ck_assert_uint_eq(ask(0, 1), 1);
	ck_assert_uint_eq(lend_until(0), now + LEASE / 4 * 3);
	promises_set_lent(iod[0], COPYSET_FIRST, false);
	now += LEASE / 4;
	ck_assert_uint_eq(ask(0, 1), 1);
	assign(2, COPYSET_OFFLINE, COPYSET_SERVING);
	promises_end_process(iod[1], 0, 100);
	now += LEASE / 4 * 3 - 1;
	ck_assert_uint_eq(serve_until(1), 0);
	now += 1; /* one lease after the promise with LENT */
	ck_assert_uint_eq(serve_until(1), UINT64_MAX);
}
END_TEST

START_TEST(test_refusals)
{
	struct copyset row = row_of(1, COPYSET_SERVING, COPYSET_SERVING);
	struct promise_head head = { .process = 100,
				     .sent = now + LEASE,
				     .lease = LEASE + 1 };
	struct promise list = { .copyset = row.id, .version = 1 };
	struct promises_attr attr = { .copysets_max = 0 };
	struct promises *none;

	ck_assert_int_eq(promises_open(&attr, now, &none), -EINVAL);
	ck_assert_int_eq(promises_set_row(iod[0], &row), -ESTALE);
	row.id++;
	ck_assert_int_eq(promises_set_row(iod[0], &row), -ENOSPC);
	ck_assert_uint_eq(promises_serve_span(iod[0], row.id).until, 0);

	/* a longer lease, another primary, a newer row, an unknown copyset */
	ck_assert_uint_eq(promises_answer(iod[1], 0, &head, &list, 1, now), 0);
	head.lease = LEASE;
	ck_assert_uint_eq(promises_answer(iod[1], 2, &head, &list, 1, now), 0);
	list.version = 2;
	ck_assert_uint_eq(promises_answer(iod[1], 0, &head, &list, 1, now), 0);
	list = (struct promise){ .copyset = row.id, .version = 1 };
	ck_assert_uint_eq(promises_answer(iod[1], 0, &head, &list, 1, now), 0);

	/* an answer from the future, and one to the process before */
	list.copyset = COPYSET_FIRST;
	promises_accept(iod[0], 1, &head, &list, 1, now);
	head = (struct promise_head){ .process = 99, .sent = now + 1 };
	promises_accept(iod[0], 1, &head, &list, 1, now + 1);
	ck_assert_uint_eq(serve_until(0), now + LEASE / 4 * 3);
}
END_TEST

/* Promises to four primaries within one lease: the last one waits for a slot. */
START_TEST(test_slots)
{
	struct promise_head head = { .process = 1, .lease = LEASE };

	for (uint32_t i = 1; i <= 4; i++) {
		struct copyset row = row_of(1 + i, COPYSET_SERVING,
					    COPYSET_SERVING);
		struct promise list = { .copyset = row.id, .version = 1 + i };

		row.member[0].iod = 10 + i;
		ck_assert_int_eq(promises_set_row(iod[1], &row), 0);
		now += 1;
		ck_assert_uint_eq(promises_answer(iod[1], 10 + i, &head, &list,
						  1, now),
				  i < 3);
		if (i == 4) {
			now += LEASE;
			ck_assert_uint_eq(promises_answer(iod[1], 10 + i, &head,
							  &list, 1, now),
					  1);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("promise_steps");
	TCase *tc = tcase_create("promises");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_hand_over);
	tcase_add_test(tc, test_silent_primary);
	tcase_add_test(tc, test_change_of_members);
	tcase_add_test(tc, test_delayed_answer);
	tcase_add_test(tc, test_ended_process);
	tcase_add_test(tc, test_two_processes);
	tcase_add_test(tc, test_loans);
	tcase_add_test(tc, test_refusals);
	tcase_add_test(tc, test_slots);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
