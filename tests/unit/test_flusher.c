/* SPDX-License-Identifier: BSD-2-Clause */
/* test_flusher.c - group commit. */
#include <semaphore.h>

#include "mgr/state/flusher.h"
#include "tests/unit/store_fixture.h"

static struct store_fixture fx;

static void setup(void)
{
	store_fx_setup(&fx);
}

static void teardown(void)
{
	store_fx_teardown(&fx);
}

static sem_t woken;
static unsigned int durable;

static void wake(void *arg)
{
	sem_post(&woken);
}

static void on_durable(struct flusher_item *item)
{
	durable++;
}

static void collect_all(struct flusher *fl)
{
	while (!flusher_is_empty(fl)) {
		sem_wait(&woken);
		ck_assert_int_ge(flusher_collect(fl), 0);
	}
}

#define MOST_DEFERRED 8u

/* The flush is done by the thread, or by the owner, which is then not woken. */
static const uint64_t quick_ns[] = { 0, UINT64_MAX };

static void submit(struct flusher *fl, bool here)
{
	bool idle = !flusher_will_flush_here(fl);

	if (flusher_submit(fl)) {
		ck_assert(here && !idle);
		sem_post(&woken);
	}
}

START_TEST(test_flusher)
{
	struct flusher_item items[100];
	struct flusher *fl;
	struct checkpointer *cp;

	durable = 0;
	sem_init(&woken, 0, 0);
	ck_assert_int_eq(flusher_open(fx.st, quick_ns[_i], MOST_DEFERRED, wake,
				      NULL, &fl),
			 0);
	ck_assert_int_eq(checkpointer_open(fx.st, &cp), 0);
	for (uint32_t i = 0; i < 100; i++) {
		items[i].durable = on_durable;
		store_fx_commit_row(&fx, i);
		flusher_add(fl, &items[i]);
		checkpointer_wake(cp);
		if (i % 7 == 6)
			submit(fl, _i);
	}
	/* durable() is called only in flusher_collect() */
	ck_assert_uint_eq(durable, 0);
	submit(fl, _i);
	collect_all(fl);
	ck_assert_uint_eq(durable, 100);
	flusher_close(fl);
	checkpointer_close(cp);
	sem_destroy(&woken);
}
END_TEST

/* One flush serves a deferred item and the normal item that it waited for. */
START_TEST(test_late)
{
	struct flusher_item deferred = { .durable = on_durable };
	struct flusher_item item = { .durable = on_durable };
	struct flusher *fl;
	int rounds;

	durable = 0;
	sem_init(&woken, 0, 0);
	ck_assert_int_eq(flusher_open(fx.st, quick_ns[_i], MOST_DEFERRED, wake,
				      NULL, &fl),
			 0);
	flusher_add_deferred(fl, &deferred);
	submit(fl, _i);
	ck_assert(!flusher_is_empty(fl));
	flusher_add(fl, &item);
	submit(fl, _i);
	collect_all(fl);
	ck_assert_uint_eq(durable, 2);
	ck_assert_int_eq(sem_getvalue(&woken, &rounds), 0);
	/* collect_all() has collected the only round */
	ck_assert_int_eq(rounds, 0);
	/* a deferred item alone */
	flusher_add_deferred(fl, &deferred);
	submit(fl, _i);
	flusher_release_deferred(fl);
	submit(fl, _i);
	collect_all(fl);
	ck_assert_uint_eq(durable, 3);
	flusher_close(fl);
	sem_destroy(&woken);
}
END_TEST

/*
 * Many deferred items are flushed, because their senders may wait for a reply before they send
 * more.
 */
START_TEST(test_many_late)
{
	struct flusher_item deferred[MOST_DEFERRED];
	struct flusher *fl;
	unsigned int i;

	durable = 0;
	sem_init(&woken, 0, 0);
	ck_assert_int_eq(flusher_open(fx.st, quick_ns[_i], MOST_DEFERRED, wake,
				      NULL, &fl),
			 0);
	for (i = 0; i < MOST_DEFERRED; i++) {
		ck_assert(!flusher_will_flush_here(fl));
		deferred[i].durable = on_durable;
		flusher_add_deferred(fl, &deferred[i]);
		submit(fl, _i);
	}
	collect_all(fl);
	ck_assert_uint_eq(durable, MOST_DEFERRED);
	flusher_close(fl);
	sem_destroy(&woken);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("store");
	Suite *s = suite_create("flusher");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_flusher, 0, 2);
	tcase_add_loop_test(tc, test_late, 0, 2);
	tcase_add_loop_test(tc, test_many_late, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
