/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_disk_pool.c - work items that hang until the test releases them: which other items they
 * delay, and which not.
 */
#include <check.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/container.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "server/store/disk_pool.h"

#define NTHREADS 8u
#define STUCK 24u

static struct disk_pool *pool;
static struct disk_client *other;
static sem_t begun, hold, over;

struct step {
	struct disk_work work;
	bool hangs;
};

static void hang(struct disk_work *work)
{
	sem_post(&begun);
	while (sem_wait(&hold))
		;
	sem_post(&over);
}

static void pass(struct disk_work *work)
{
	sem_post(&over);
}

static void wait_for(sem_t *sem, unsigned int n)
{
	while (n)
		if (!sem_wait(sem))
			n--;
}

static void setup(void)
{
	sem_init(&begun, 0, 0);
	sem_init(&hold, 0, 0);
	sem_init(&over, 0, 0);
	ck_assert_int_eq(disk_pool_open(NTHREADS, &pool), 0);
	other = disk_client_new();
	ck_assert_ptr_nonnull(other);
}

static void teardown(void)
{
	disk_client_put(other);
	disk_pool_close(pool);
	sem_destroy(&begun);
	sem_destroy(&hold);
	sem_destroy(&over);
}

static void let_go(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		sem_post(&hold);
	wait_for(&over, n);
}

static struct disk_client *start(struct step *s, enum disk_work_kind kind,
				 void (*run)(struct disk_work *work))
{
	struct disk_client *client = disk_client_new();

	ck_assert_ptr_nonnull(client);
	s->work.run = run;
	disk_pool_run(pool, client, kind, &s->work);
	return client;
}

/* Each kind of work continues, whatever hangs, for however many clients. */
START_TEST(all_kinds_go_on)
{
	unsigned int n = _i == DISK_CONTROL ? NTHREADS : STUCK;
	struct step stuck[STUCK] = { 0 }, s[DISK_WORK_KINDS] = { 0 };

	for (unsigned int i = 0; i < n; i++)
		disk_client_put(
			start(&stuck[i], (enum disk_work_kind)_i, hang));
	wait_for(&begun, n);
	for (int kind = 0; kind < DISK_WORK_KINDS; kind++) {
		s[kind].work.run = pass;
		disk_pool_run(pool, other, (enum disk_work_kind)kind,
			      &s[kind].work);
		wait_for(&over, 1);
	}
	let_go(n);
}
END_TEST

/* One client uses only its share of threads, and the work of others overtakes it. */
START_TEST(one_client_holds_a_share)
{
	struct step stuck[STUCK] = { 0 }, s = { 0 };
	struct disk_client *bad = disk_client_new();

	ck_assert_ptr_nonnull(bad);
	for (unsigned int i = 0; i < STUCK; i++) {
		stuck[i].work.run = hang;
		disk_pool_run(pool, bad, DISK_FLUSH, &stuck[i].work);
	}
	wait_for(&begun, NTHREADS);
	for (unsigned int i = 0; i < 50; i++) {
		s.work.run = pass;
		disk_pool_run(pool, other, DISK_FLUSH, &s.work);
		wait_for(&over, 1);
	}
	ck_assert_int_eq(sem_trywait(&begun), -1);
	s.work.run = pass; /* its own writes continue */
	disk_pool_run(pool, bad, DISK_WRITE, &s.work);
	wait_for(&over, 1);
	let_go(STUCK);
	disk_client_put(bad);
}
END_TEST

/* The number of threads is limited, and the last half are only for clients without one. */
START_TEST(the_last_are_for_others)
{
	const unsigned int n = DISK_QUEUE_THREADS;
	struct step *stuck = calloc(n, sizeof(*stuck)), s = { 0 };
	struct disk_client *bad[2] = { disk_client_new(), disk_client_new() };

	ck_assert(stuck && bad[0] && bad[1]);
	for (unsigned int i = 0; i < n; i++) { /* the share is large here */
		stuck[i].work.run = hang;
		disk_pool_run(pool, bad[i % 2], DISK_CHANGE, &stuck[i].work);
	}
	wait_for(&begun, DISK_QUEUE_THREADS / 2);
	s.work.run = pass;
	disk_pool_run(pool, other, DISK_CHANGE, &s.work);
	wait_for(&over, 1);
	ck_assert_int_eq(sem_trywait(&begun), -1);
	let_go(n);
	disk_client_put(bad[0]);
	disk_client_put(bad[1]);
	free(stuck);
}
END_TEST

/* A stop executes all work; later work is executed by the caller. */
START_TEST(stop_does_the_rest)
{
	struct step stuck[10] = { 0 }, s[200] = { 0 }, last = { 0 };
	int n;

	for (unsigned int i = 0; i < 10; i++)
		disk_client_put(start(&stuck[i], DISK_WRITE, hang));
	for (unsigned int i = 0; i < 200; i++)
		disk_client_put(start(&s[i], DISK_WRITE, pass));
	for (unsigned int i = 0; i < 10; i++)
		sem_post(&hold);
	disk_pool_stop(pool);
	sem_getvalue(&over, &n);
	ck_assert_int_eq(n, 210);
	disk_client_put(start(&last, DISK_READ, pass));
	sem_getvalue(&over, &n);
	ck_assert_int_eq(n, 211);
}
END_TEST

static void maybe_hang(struct disk_work *work)
{
	struct step *s = container_of(work, struct step, work);

	if (s->hangs)
		hang(work);
	else
		pass(work);
}

/* Random kinds and clients, and some work hangs: nothing is lost or executed twice. */
START_TEST(storm)
{
	enum { WORKS = 5000, CLIENTS = 8 };
	struct step *s = calloc(WORKS, sizeof(*s));
	struct disk_client *client[CLIENTS];
	unsigned int i, stuck = 0;
	struct rnd r;

	ck_assert_ptr_nonnull(s);
	rnd_init(&r, 5);
	for (i = 0; i < CLIENTS; i++)
		client[i] = disk_client_new();
	for (i = 0; i < WORKS; i++) {
		s[i].hangs = rnd_in(&r, 0, 99) == 0;
		s[i].work.run = maybe_hang;
		stuck += s[i].hangs;
		disk_pool_run(pool, client[rnd_in(&r, 0, CLIENTS - 1)],
			      (enum disk_work_kind)rnd_in(&r, 0,
							  DISK_WORK_KINDS - 1),
			      &s[i].work);
	}
	for (i = 0; i < stuck; i++)
		sem_post(&hold);
	wait_for(&over, WORKS);
	for (i = 0; i < CLIENTS; i++)
		disk_client_put(client[i]);
	disk_pool_stop(pool);
	ck_assert_int_eq(sem_trywait(&over), -1);
	free(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("disk_pool");
	TCase *tc = tcase_create("pool");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, all_kinds_go_on, 0, DISK_WORK_KINDS);
	tcase_add_test(tc, one_client_holds_a_share);
	tcase_add_test(tc, the_last_are_for_others);
	tcase_add_test(tc, stop_does_the_rest);
	tcase_add_test(tc, storm);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
