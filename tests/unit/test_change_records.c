/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_change_records.c - which changes reached a copyset: single steps, and random ones compared
 * with a model that forgets nothing.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "server/once/change_records.h"
#include "tests/run_suite.h"
#include "tests/unit/rnd.h"

#define ROOM 16u
#define LIFE 100u /* how long a client may ask; the clock is a number */

static struct change_records *records;
static uint64_t now;

static void setup(void)
{
	now = 1000;
	ck_assert_int_eq(change_records_open(ROOM, &records), 0);
}

static void teardown(void)
{
	change_records_close(records);
}

static void add(uint64_t session, uint32_t slot, uint64_t seq, uint64_t bytes,
		uint64_t total)
{
	const struct change_id id = { session, 3, slot, seq };

	change_records_add(records, &id, bytes, total, now + LIFE);
}

/* Returns an outcome or -errno; done is checked unless that is an error. */
static int find(uint64_t session, uint32_t slot, uint64_t seq, uint64_t done)
{
	const struct change_id id = { session, 3, slot, seq };
	enum change_outcome outcome;
	uint64_t bytes;
	int rc = change_records_find(records, &id, now, &outcome, &bytes);

	if (rc)
		return rc;
	ck_assert_uint_eq(bytes, done);
	return (int)outcome;
}

START_TEST(test_parts)
{
	ck_assert_int_eq(find(1, 0, 5, 0), CHANGE_UNKNOWN);
	add(1, 0, 5, 10, 30);
	ck_assert_int_eq(find(1, 0, 5, 10), CHANGE_PART);
	add(1, 0, 5, 20, 30);
	ck_assert_int_eq(find(1, 0, 5, 30), CHANGE_DONE);
	add(1, 0, 5, 20, 30); /* more than there is */
	ck_assert_int_eq(find(1, 0, 5, 30), CHANGE_DONE);
	ck_assert_int_eq(find(1, 1, 5, 0), CHANGE_UNKNOWN);
	ck_assert_int_eq(find(2, 0, 5, 0), CHANGE_UNKNOWN);
}
END_TEST

START_TEST(test_next_request_of_the_slot)
{
	add(1, 0, 5, 10, 10);
	ck_assert_int_eq(find(1, 0, 6, 0), CHANGE_UNKNOWN);
	add(1, 0, 7, 10, 20);
	ck_assert_int_eq(find(1, 0, 7, 10), CHANGE_PART);
	add(1, 0, 5, 10, 10); /* a late part */
	ck_assert_int_eq(find(1, 0, 7, 10), CHANGE_PART);
	ck_assert_int_eq(find(1, 0, 5, 0), -ECONNABORTED);
}
END_TEST

START_TEST(test_other_iod)
{
	const struct change_id other = { 1, 4, 0, 5 };
	enum change_outcome outcome;
	uint64_t done;

	add(1, 0, 5, 10, 10);
	ck_assert_int_eq(
		change_records_find(records, &other, now, &outcome, &done), 0);
	ck_assert_int_eq(outcome, CHANGE_UNKNOWN);
}
END_TEST

START_TEST(test_end_of_a_session)
{
	for (uint32_t slot = 0; slot < 3; slot++) {
		add(1, slot, 1, 10, 10);
		add(2, slot, 1, 10, 10);
	}
	change_records_end_session(records, 1);
	change_records_end_session(records, 3);
	for (uint32_t slot = 0; slot < 3; slot++) {
		ck_assert_int_eq(find(1, slot, 1, 0), CHANGE_UNKNOWN);
		ck_assert_int_eq(find(2, slot, 1, 10), CHANGE_DONE);
	}
	change_records_end_session(records, 2);
	add(2, 0, 1, 10, 10);
	ck_assert_int_eq(find(2, 0, 1, 10), CHANGE_DONE);
}
END_TEST

/* The oldest record goes, and then nothing is known of changes without a record, for a time. */
START_TEST(test_full)
{
	for (uint32_t slot = 0; slot < ROOM; slot++)
		add(slot, slot, 1, 10, 10);
	add(0, 0, 2, 10, 10); /* now that of slot 1 is the oldest */
	ck_assert_int_eq(find(99, 0, 1, 0), CHANGE_UNKNOWN);
	now += LIFE - 1;
	add(99, 0, 1, 10, 10);
	ck_assert_int_eq(find(0, 0, 2, 10), CHANGE_DONE);
	ck_assert_int_eq(find(2, 2, 1, 10), CHANGE_DONE);
	ck_assert_int_eq(find(1, 1, 1, 0), -ECONNABORTED);
	ck_assert_int_eq(find(98, 0, 1, 0), -ECONNABORTED);
	ck_assert_int_eq(find(99, 0, 2, 0), CHANGE_UNKNOWN);
	now += 1;
	ck_assert_int_eq(find(98, 0, 1, 0), CHANGE_UNKNOWN);
	add(97, 0, 1, 10, 10); /* nobody asks for the one that goes */
	ck_assert_int_eq(find(98, 0, 1, 0), CHANGE_UNKNOWN);
}
END_TEST

/* A part that comes after the record of the others was dropped. */
START_TEST(test_dropped_parts)
{
	add(99, 0, 1, 10, 30);
	for (uint32_t slot = 0; slot < ROOM; slot++)
		add(1, slot, 1, 10, 10);
	add(99, 0, 1, 10, 30);
	ck_assert_int_eq(find(99, 0, 1, 0), -ECONNABORTED);
	add(99, 0, 1, 20, 30);
	ck_assert_int_eq(find(99, 0, 1, 30), CHANGE_DONE);
	add(99, 0, 2, 10, 30);
	ck_assert_int_eq(find(99, 0, 2, 10), CHANGE_PART);
}
END_TEST

/* ---- the model ---- */

#define SESSIONS 6u
#define ORIGINS 2u
#define SLOTS 4u
#define STEPS 200000u
#define PARTS 3u /* of 10 bytes, for each change */

/* The last request of each slot, all parts of it that were ever made. */
static struct {
	uint64_t seq; /* 0: none yet */
	unsigned int parts;
	uint64_t until;
	bool forgotten; /* its session has ended since */
} model[SESSIONS][ORIGINS][SLOTS];

static unsigned int outcomes[3], aborted;

static struct change_id random_id(struct rnd *rnd)
{
	return (struct change_id){
		.session = rnd_in(rnd, 0, SESSIONS - 1),
		.origin = (uint32_t)rnd_in(rnd, 0, ORIGINS - 1),
		.slot = (uint32_t)rnd_in(rnd, 0, SLOTS - 1),
	};
}

/* The next part of the request in the slot, or the first one of the next request. */
static void step_add(struct rnd *rnd)
{
	struct change_id id = random_id(rnd);
	typeof(&model[0][0][0]) m = &model[id.session][id.origin][id.slot];

	if (!m->seq || m->forgotten || m->parts == PARTS ||
	    rnd_in(rnd, 0, 9) == 0) {
		m->seq += rnd_in(rnd, 1, 3);
		m->parts = 0;
		m->forgotten = false;
	}
	m->parts++;
	m->until = now + rnd_in(rnd, 0, LIFE);
	id.seq = m->seq;
	change_records_add(records, &id, 10, 10 * PARTS, m->until);
}

/* A client asks for the request in the slot, or for the next one, which no part has reached. */
static void step_find(struct rnd *rnd)
{
	struct change_id id = random_id(rnd);
	typeof(&model[0][0][0]) m = &model[id.session][id.origin][id.slot];
	bool next = !m->seq || now >= m->until || rnd_in(rnd, 0, 3) == 0;
	enum change_outcome outcome, want = CHANGE_UNKNOWN;
	uint64_t done;

	id.seq = m->seq + next;
	if (!next && !m->forgotten)
		want = m->parts == PARTS ? CHANGE_DONE : CHANGE_PART;
	if (change_records_find(records, &id, now, &outcome, &done)) {
		aborted++;
		return;
	}
	ck_assert_int_eq(outcome, want);
	ck_assert_uint_eq(done, want == CHANGE_UNKNOWN ? 0 : 10 * m->parts);
	outcomes[outcome]++;
}

static void step_end_session(struct rnd *rnd)
{
	uint64_t session = rnd_in(rnd, 0, SESSIONS - 1);

	change_records_end_session(records, session);
	for (unsigned int i = 0; i < ORIGINS; i++)
		for (unsigned int j = 0; j < SLOTS; j++)
			model[session][i][j].forgotten = true;
}

/* _i 0: there is room for all, so each answer is known.  1: not. */
START_TEST(test_model)
{
	unsigned int room = _i ? ROOM : SESSIONS * ORIGINS * SLOTS;
	struct rnd rnd;

	rnd_init(&rnd, 7 + (uint64_t)_i);
	memset(model, 0, sizeof(model));
	memset(outcomes, 0, sizeof(outcomes));
	aborted = 0;
	change_records_close(records);
	ck_assert_int_eq(change_records_open(room, &records), 0);
	for (unsigned int step = 0; step < STEPS; step++) {
		uint64_t kind = rnd_in(&rnd, 0, 999);

		now += rnd_in(&rnd, 0, 1);
		if (kind < 5)
			step_end_session(&rnd);
		else if (kind < 400)
			step_add(&rnd);
		else
			step_find(&rnd);
	}
	ck_assert((aborted > 0) == (_i > 0));
	for (unsigned int i = 0; i < 3; i++)
		ck_assert_uint_gt(outcomes[i], STEPS / 1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("change_records");
	TCase *tc = tcase_create("records");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_parts);
	tcase_add_test(tc, test_next_request_of_the_slot);
	tcase_add_test(tc, test_other_iod);
	tcase_add_test(tc, test_end_of_a_session);
	tcase_add_test(tc, test_full);
	tcase_add_test(tc, test_dropped_parts);
	tcase_add_loop_test(tc, test_model, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
