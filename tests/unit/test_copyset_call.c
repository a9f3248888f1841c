/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_copyset_call.c - requests for objects of copysets that move between iods, against a
 * simulated manager and simulated iods.
 */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/io/io.h"
#include "client/lib/names/file_counter.h"
#include "client/lib/session/broadcast.h"
#include "tests/run_suite.h"
#include "tests/unit/copyset_rig.h"
#include "tests/unit/rnd.h"

#define HANDLE 5u
#define SEED 20031119u
#define STEPS 150u
#define FILE_BYTES (RIG_IODS * RIG_OBJECT)

static struct copyset_rig rig;

static const struct dist layout = {
	.base = 5, .pcount = RIG_IODS, .ssize = RIG_STRIPE, .ring = 1
};

static void setup(void)
{
	copyset_rig_open(&rig);
}

static void teardown(void)
{
	copyset_rig_close(&rig);
}

static struct io_plan plan_of(const struct dist *dist,
			      const struct plan_span *span,
			      const struct iovec *iov)
{
	static const struct file_view whole;

	return (struct io_plan){ .dist = dist,
				 .view = &whole,
				 .span = span,
				 .nspan = 1,
				 .iov = iov,
				 .niov = 1 };
}

static int write_at(const struct dist *dist, uint64_t off, void *data,
		    size_t len)
{
	const struct plan_span span = { off, len };
	const struct iovec iov = { data, len };
	const struct io_plan plan = plan_of(dist, &span, &iov);

	return io_write(&rig.s, HANDLE, &plan, 0);
}

static int read_at(const struct dist *dist, uint64_t off, void *data,
		   size_t len)
{
	const struct plan_span span = { off, len };
	const struct iovec iov = { data, len };
	const struct io_plan plan = plan_of(dist, &span, &iov);
	uint64_t n;
	bool doubt;
	int rc = io_read(&rig.s, HANDLE, &plan, 0, &n, &doubt);

	ck_assert(rc || n == len);
	return rc;
}

static int count(int64_t value, int64_t *old)
{
	static struct words words;
	const struct target t = { .handle = HANDLE };
	struct counter_ask a = {
		.dist = &layout, .words = &words, .number = 1, .value = value
	};
	int rc = counter_ask(&rig.s, &t, &a);

	*old = a.old;
	return rc;
}

static unsigned int set_of(uint32_t k)
{
	return layout.base + k;
}

static uint64_t size_now(void)
{
	struct file_size size;

	ck_assert_int_eq(size_ask(&rig.s, HANDLE, &layout, NULL, NULL, &size),
			 0);
	return size.size;
}

/* The sixth byte of each stripe of a file, which writes to all iods change. */
static void write_all(uint8_t byte)
{
	uint8_t data[RIG_IODS * RIG_STRIPE];

	memset(data, byte, sizeof(data));
	ck_assert_int_eq(write_at(&layout, 0, data, sizeof(data)), 0);
	for (uint32_t k = 0; k < RIG_IODS; k++)
		ck_assert_uint_eq(rig.object[set_of(k)][RIG_STRIPE - 1], byte);
}

START_TEST(a_ring_is_learned_once)
{
	write_all(1);
	ck_assert_uint_eq(rig.questions, 1);
	ck_assert_uint_eq(rig.rows, RIG_SETS);
	write_all(2);
	ck_assert_uint_eq(size_now(), RIG_IODS * RIG_STRIPE);
	ck_assert_uint_eq(rig.questions, 1);
	ck_assert_uint_eq(rig.refused, 0);
}
END_TEST

/* Servers of ring 0 are asked as ever: no copyset in the request, and no question. */
START_TEST(ring_0_needs_nothing)
{
	const struct dist own = { .pcount = 1, .ssize = RIG_STRIPE };
	uint8_t byte = 1;

	ck_assert_int_eq(write_at(&own, 0, &byte, 1), -EROFS);
	ck_assert_uint_eq(rig.own, 1);
	ck_assert_uint_eq(rig.questions, 0);
}
END_TEST

START_TEST(only_changes_are_sent)
{
	write_all(1);
	copyset_rig_move(&rig, set_of(1), 0);
	copyset_rig_move(&rig, 400, 0);
	write_all(2);
	ck_assert_uint_eq(rig.refused, 1);
	ck_assert_uint_eq(rig.questions, 2);
	ck_assert_uint_eq(rig.rows, RIG_SETS + 2);
	write_all(3);
	ck_assert_uint_eq(rig.questions, 2);
}
END_TEST

/* All kinds of requests meet a version that is over. */
START_TEST(all_kinds_are_sent_again)
{
	uint8_t data[RIG_STRIPE];
	int64_t old;

	write_all(1);
	copyset_rig_move(&rig, set_of(0), 1);
	ck_assert_uint_eq(size_now(), RIG_IODS * RIG_STRIPE);
	copyset_rig_move(&rig, set_of(0), 2);
	ck_assert_int_eq(size_sync(&rig.s, HANDLE, &layout), 0);
	copyset_rig_move(&rig, set_of(0), 0);
	ck_assert_int_eq(read_at(&layout, 0, data, sizeof(data)), 0);
	ck_assert_uint_eq(data[7], 1);
	copyset_rig_move(&rig, set_of(1), 0);
	ck_assert_int_eq(count(5, &old), 0);
	copyset_rig_move(&rig, set_of(1), 1);
	ck_assert_int_eq(count(1, &old), 0);
	ck_assert_int_eq(old, 5);
	ck_assert_uint_eq(rig.refused, 5);
	ck_assert_uint_eq(rig.own, 0);
}
END_TEST

/* The manager's row is newer than that of the iod: the same version is sent again. */
START_TEST(an_iod_learns_late)
{
	write_all(1);
	rig.late = 2;
	copyset_rig_move(&rig, set_of(0), 1);
	write_all(2);
	ck_assert_uint_eq(rig.refused, 1 + 2);
}
END_TEST

START_TEST(nobody_serves_for_a_while)
{
	write_all(1);
	copyset_rig_move(&rig, set_of(0), RIG_IODS);
	rig.s.timeout_ms = 120;
	ck_assert_int_eq(size_sync(&rig.s, HANDLE, &layout), -ETIMEDOUT);
	copyset_rig_move(&rig, set_of(0), 2);
	rig.s.timeout_ms = 60000;
	write_all(2);
}
END_TEST

START_TEST(refused_until_the_deadline)
{
	write_all(1);
	rig.late = 1000;
	copyset_rig_move(&rig, set_of(0), 1);
	rig.s.timeout_ms = 120;
	ck_assert_int_eq(size_sync(&rig.s, HANDLE, &layout), -ETIMEDOUT);
	ck_assert_uint_gt(rig.refused, 1);
}
END_TEST

static const struct {
	int manager, want;
} errors[] = {
	{ -EIO, -EIO },
	{ -ESTALE, SESSION_ENDED },
	{ -EKEYREJECTED, -EKEYREJECTED },
};

/* The refused request was not executed, so its change may be made in the next session. */
START_TEST(the_manager_refuses)
{
	int64_t old;

	write_all(1);
	copyset_rig_move(&rig, set_of(1), 0);
	rig.manager_status = errors[_i].manager;
	ck_assert_int_eq(count(1, &old), errors[_i].want);
	ck_assert_int_eq(size_sync(&rig.s, HANDLE, &layout), errors[_i].want);
	rig.manager_status = 0;
	ck_assert_int_eq(count(1, &old), 0);
	ck_assert_int_eq(old, 0);
}
END_TEST

/* A part of the write was made. */
START_TEST(the_session_ends_after_a_part)
{
	uint8_t data[RIG_STRIPE] = { 0 };

	write_all(1);
	rig.partly = true;
	rig.manager_status = -ESTALE;
	ck_assert_int_eq(write_at(&layout, 0, data, sizeof(data)),
			 -ECONNABORTED);
	rig.manager_status = 0;
	rig.partly = true;
	copyset_rig_move(&rig, 400, 0);
	write_all(3);
}
END_TEST

/* iod 0 fails, so the call need not wait for a copyset that nobody serves. */
START_TEST(waits_end_with_their_call)
{
	write_all(1);
	copyset_rig_move(&rig, set_of(0), RIG_IODS);
	for (uint32_t k = 1; k < RIG_IODS; k++)
		copyset_rig_move(&rig, set_of(k), 0);
	rig.iod_status = -ENOSPC;
	ck_assert_int_eq(size_sync(&rig.s, HANDLE, &layout), -ENOSPC);
	rig.iod_status = 0;
	copyset_rig_move(&rig, set_of(0), 0);
	write_all(2);
}
END_TEST

START_TEST(impossible_layouts)
{
	struct dist d = layout;
	uint8_t byte = 1;
	struct ring ring;

	ck_assert_int_eq(copysets_learn(&rig.s, &d, &ring), 0);
	ck_assert_uint_eq(ring.first, COPYSET_FIRST);
	ck_assert_uint_eq(ring.n, RIG_SETS);
	d.ring = 2;
	rig.s.timeout_ms = 40;
	ck_assert_int_eq(copysets_learn(&rig.s, &d, &ring), -ETIMEDOUT);
	ck_assert_int_eq(write_at(&d, 0, &byte, 1), -ETIMEDOUT);
	rig.s.niods = 1;
	ck_assert_int_eq(write_at(&layout, 0, &byte, 1), -EPROTO);
	rig.s.niods = RIG_IODS;
}
END_TEST

/* ---- copysets that move all the time ---- */

static atomic_bool stop;

static void *move_all_the_time(void *arg)
{
	struct rnd *rnd = arg;

	while (!atomic_load(&stop)) {
		pthread_mutex_lock(&rig.lock);
		rig.late = rnd_in(rnd, 0, 19) == 0;
		rig.partly = rnd_in(rnd, 0, 9) == 0;
		pthread_mutex_unlock(&rig.lock);
		copyset_rig_move(&rig,
				 set_of((uint32_t)rnd_in(rnd, 0, RIG_IODS - 1)),
				 (uint16_t)rnd_in(rnd, 0, RIG_IODS - 1));
		usleep(2000);
	}
	return NULL;
}

struct model {
	uint8_t byte[FILE_BYTES];
	uint64_t size;
	int64_t counter;
};

static void write_some(struct model *m, struct rnd *rnd)
{
	uint64_t off = rnd_in(rnd, 0, m->size);
	uint64_t len = rnd_in(rnd, 1, 2 * RIG_STRIPE);

	if (off + len > FILE_BYTES)
		len = FILE_BYTES - off;
	if (!len)
		return;
	memset(m->byte + off, (int)rnd_in(rnd, 1, 255), len);
	ck_assert_int_eq(write_at(&layout, off, m->byte + off, len), 0);
	if (off + len > m->size)
		m->size = off + len;
}

static void look_at_all(const struct model *m)
{
	uint8_t data[FILE_BYTES];

	ck_assert_uint_eq(size_now(), m->size);
	if (m->size) {
		ck_assert_int_eq(read_at(&layout, 0, data, m->size), 0);
		ck_assert_mem_eq(data, m->byte, m->size);
	}
}

static void step(struct model *m, struct rnd *rnd)
{
	int64_t old;

	switch (rnd_in(rnd, 0, 3)) {
	case 0:
		ck_assert_int_eq(count(3, &old), 0);
		ck_assert_int_eq(old, m->counter);
		m->counter += 3;
		break;
	case 1:
		look_at_all(m);
		break;
	default:
		write_some(m, rnd);
	}
}

START_TEST(no_byte_is_lost)
{
	static struct model m;
	struct rnd rnd, moves;
	pthread_t thread;

	rnd_init(&rnd, SEED);
	moves.state = rnd_next(&rnd);
	atomic_store(&stop, false);
	pthread_create(&thread, NULL, move_all_the_time, &moves);
	for (unsigned int i = 0; i < STEPS; i++)
		step(&m, &rnd);
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	look_at_all(&m);
	ck_assert_uint_gt(rig.refused, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("copyset_call");
	TCase *c = tcase_create("call");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 100);
	tcase_add_test(c, a_ring_is_learned_once);
	tcase_add_test(c, ring_0_needs_nothing);
	tcase_add_test(c, only_changes_are_sent);
	tcase_add_test(c, all_kinds_are_sent_again);
	tcase_add_test(c, an_iod_learns_late);
	tcase_add_test(c, nobody_serves_for_a_while);
	tcase_add_test(c, refused_until_the_deadline);
	tcase_add_loop_test(c, the_manager_refuses, 0,
			    sizeof(errors) / sizeof(errors[0]));
	tcase_add_test(c, the_session_ends_after_a_part);
	tcase_add_test(c, waits_end_with_their_call);
	tcase_add_test(c, impossible_layouts);
	tcase_add_test(c, no_byte_is_lost);
	suite_add_tcase(s, c);
	return run_suite(s);
}
