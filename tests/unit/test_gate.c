/* SPDX-License-Identifier: BSD-2-Clause */
/* test_gate.c - the gate, compared with a model, and used by threads. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/store/gate.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define HANDLES 6u
#define ENTRIES 24u
#define WAITS 12u

static struct gate *gate;
static uint64_t now;

static uint64_t fake_clock(void)
{
	return now;
}

static void open_fake(void)
{
	now = 1000;
	ck_assert_int_eq(gate_open(fake_clock, &gate), 0);
}

static void close_it(void)
{
	gate_close(gate);
}

/* ---- the model ---- */

struct change {
	struct gate_entry entry;
	unsigned int handle;
	bool inside;
};

struct waiter {
	struct gate_wait wait;
	unsigned int handle;
	bool waits; /* the change waits in the model */
	unsigned int went, should;
};

static struct change change[ENTRIES];
static struct waiter waiter[WAITS];
static bool same[HANDLES][HANDLES]; /* whether two handles share a stripe */

/* Objects 2n and 2n + 1 are of one file, and share a stripe. */
static struct object_key key_of(unsigned int object)
{
	return (struct object_key){ object / 2, object % 2 * 1024 };
}

static void went(struct gate_wait *wait)
{
	container_of(wait, struct waiter, wait)->went++;
}

/* The gate decides which handles share a stripe; finds them out. */
static void look_at_stripes(void)
{
	struct gate_entry entry;
	unsigned int i, k;

	for (i = 0; i < HANDLES; i++) {
		ck_assert_int_eq(gate_enter(gate, key_of(i), now + 1, &entry),
				 0);
		now++;
		for (k = 0; k < HANDLES; k++)
			same[i][k] = gate_is_shut(gate, key_of(k));
		ck_assert(same[i][i] && !same[i][i ^ 1]);
		gate_leave(gate, &entry);
	}
}

static bool shut(unsigned int handle)
{
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		if (change[i].inside && same[change[i].handle][handle] &&
		    change[i].entry.expiry <= now)
			return true;
	return false;
}

static void enter(struct rnd *r, struct change *c)
{
	uint64_t expiry = now + rnd_in(r, 0, 20) - rnd_in(r, 0, 3);

	if (rnd_in(r, 0, 9) == 0)
		expiry = UINT64_MAX;
	c->handle = (unsigned int)rnd_in(r, 0, HANDLES - 1);
	c->inside = expiry > now;
	ck_assert_int_eq(gate_enter(gate, key_of(c->handle), expiry, &c->entry),
			 c->inside ? 0 : -ETIMEDOUT);
}

static void leave(struct change *c)
{
	unsigned int i;

	c->inside = false;
	for (i = 0; i < WAITS; i++) {
		struct waiter *w = &waiter[i];

		if (!w->waits || !same[c->handle][w->handle] || shut(w->handle))
			continue;
		w->waits = false;
		w->should++;
	}
	gate_leave(gate, &c->entry);
}

static void come(struct rnd *r, struct waiter *w)
{
	if (w->waits) {
		ck_assert(gate_cancel(gate, key_of(w->handle), &w->wait));
		w->waits = false;
		return;
	}
	ck_assert(!gate_cancel(gate, key_of(w->handle), &w->wait));
	w->handle = (unsigned int)rnd_in(r, 0, HANDLES - 1);
	w->wait.go = went;
	w->waits = shut(w->handle);
	ck_assert(gate_wait(gate, key_of(w->handle), &w->wait) == w->waits);
}

static void step(struct rnd *r)
{
	struct change *c = &change[rnd_in(r, 0, ENTRIES - 1)];
	unsigned int i;

	now += rnd_in(r, 0, 3);
	if (rnd_in(r, 0, 2) == 0)
		come(r, &waiter[rnd_in(r, 0, WAITS - 1)]);
	else if (c->inside)
		leave(c);
	else
		enter(r, c);
	for (i = 0; i < HANDLES; i++)
		ck_assert(gate_is_shut(gate, key_of(i)) == shut(i));
	for (i = 0; i < WAITS; i++)
		ck_assert_uint_eq(waiter[i].went, waiter[i].should);
}

START_TEST(as_the_model_says)
{
	struct rnd r;
	unsigned int i;

	rnd_init(&r, (uint64_t)_i + 1);
	look_at_stripes();
	for (i = 0; i < 20000; i++)
		step(&r);
	for (i = 0; i < ENTRIES; i++)
		if (change[i].inside)
			leave(&change[i]);
	for (i = 0; i < WAITS; i++)
		ck_assert(!waiter[i].waits);
}
END_TEST

/* The oldest late change counts, not the last one. */
START_TEST(oldest_counts)
{
	struct gate_entry soon, later;

	ck_assert_int_eq(gate_enter(gate, object_key_own(7), now + 5, &soon),
			 0);
	ck_assert_int_eq(gate_enter(gate, object_key_own(7), now + 50, &later),
			 0);
	now += 4;
	ck_assert(!gate_is_shut(gate, object_key_own(7)));
	now++;
	ck_assert(gate_is_shut(gate, object_key_own(7)));
	gate_leave(gate, &soon);
	ck_assert(!gate_is_shut(gate, object_key_own(7)));
	gate_leave(gate, &later);
}
END_TEST

START_TEST(late_does_not_enter)
{
	struct gate_entry entry;

	ck_assert_int_eq(gate_enter(gate, object_key_own(7), now, &entry),
			 -ETIMEDOUT);
	ck_assert_int_eq(gate_enter(gate, object_key_own(7), 0, &entry),
			 -ETIMEDOUT);
	ck_assert(!gate_is_shut(gate, object_key_own(7)));
}
END_TEST

/* Returns another handle of the same stripe; the stripe has one number. */
static uint64_t neighbour(uint64_t handle)
{
	uint64_t other = handle + 1;

	while (gate_place(other) != gate_place(handle))
		other++;
	return other;
}

START_TEST(neighbours_do_not_wait)
{
	struct gate_entry here, there;
	struct waiter w = { .wait = { .go = went } };

	gate_enter_late(gate, object_key_own(7), 1, &here);
	ck_assert(gate_is_shut(gate, object_key_own(7)));
	ck_assert(!gate_is_shut(gate, object_key_own(neighbour(7))));
	ck_assert(!gate_wait(gate, object_key_own(neighbour(7)), &w.wait));
	gate_enter_late(gate, object_key_own(neighbour(7)), 1, &there);
	ck_assert(gate_wait(gate, object_key_own(neighbour(7)), &w.wait));
	gate_leave(gate, &there);
	ck_assert_uint_eq(w.went, 1);
	ck_assert(gate_is_shut(gate, object_key_own(7)));
	gate_leave(gate, &here);
	ck_assert(!gate_is_shut(gate, object_key_own(7)));
}
END_TEST

static int made(void *arg)
{
	return ++*(int *)arg;
}

/*
 * An object is swapped only if nobody changed it; changes of its stripe neighbours do not matter.
 */
START_TEST(swapped_when_nobody_changed_it)
{
	struct gate_entry others, own;
	struct gate_swap swap;
	int n = 0;

	gate_enter_late(gate, object_key_own(7), 1, &others);
	ck_assert_int_eq(gate_enter(gate, object_key_own(7), now + 1, &own), 0);
	ck_assert(!gate_swap_begin(gate, object_key_own(7), &swap));
	gate_leave(gate, &own);
	ck_assert(gate_swap_begin(gate, object_key_own(7), &swap));
	ck_assert_int_eq(gate_enter(gate, object_key_own(7), now + 1, &own), 0);
	gate_leave(gate, &own);
	ck_assert_int_eq(gate_swap_end(gate, &swap, made, &n), -EAGAIN);
	ck_assert_int_eq(n, 0);
	ck_assert(gate_swap_begin(gate, object_key_own(7), &swap));
	ck_assert_int_eq(gate_enter(gate, object_key_own(neighbour(7)), now + 1,
				    &own),
			 0);
	ck_assert_int_eq(gate_swap_end(gate, &swap, made, &n), 1);
	gate_leave(gate, &own);
	gate_leave(gate, &others);
}
END_TEST

/* ---- threads: after a failed change, no caller sees it being executed ---- */

#define ROUNDS 5000u
#define WAKES 300u

static struct {
	atomic_uint_least64_t round, expiry; /* of the change in progress */
	/* a round that a later caller has passed */
	atomic_uint_least64_t passed;
	atomic_bool stop;
} race;

static void *comes_after(void *arg)
{
	while (!atomic_load(&race.stop)) {
		uint64_t round = atomic_load(&race.round);

		/* its expiry, if the round has not changed meanwhile */
		if (clock_boot() < atomic_load(&race.expiry) ||
		    gate_is_shut(gate, object_key_own(9)))
			continue;
		if (atomic_load(&race.round) == round)
			atomic_store(&race.passed, round);
	}
	return NULL;
}

static void make_one(struct rnd *r, uint64_t round)
{
	uint64_t until, expiry = clock_boot() + rnd_in(r, 0, 3000);
	struct gate_entry entry;

	atomic_store(&race.expiry, CLOCK_NEVER);
	atomic_store(&race.round, round);
	atomic_store(&race.expiry, expiry);
	if (gate_enter(gate, object_key_own(9), expiry, &entry))
		return;
	for (until = clock_boot() + rnd_in(r, 0, 3000); clock_boot() < until;)
		;
	ck_assert_uint_ne(atomic_load(&race.passed), round);
	gate_leave(gate, &entry);
}

START_TEST(nobody_passes)
{
	pthread_t thread;
	struct rnd r;
	uint64_t i;

	rnd_init(&r, 1);
	ck_assert_int_eq(gate_open(clock_boot, &gate), 0);
	atomic_store(&race.expiry, CLOCK_NEVER);
	pthread_create(&thread, NULL, comes_after, NULL);
	for (i = 1; i <= ROUNDS; i++)
		make_one(&r, i);
	atomic_store(&race.stop, true);
	pthread_join(thread, NULL);
	gate_close(gate);
}
END_TEST

/* ---- threads: every wait ends exactly once ---- */

struct sleeper {
	struct gate_wait wait;
	atomic_uint went;
};

static void wake(struct gate_wait *wait)
{
	atomic_fetch_add(&container_of(wait, struct sleeper, wait)->went, 1);
}

static void *makes_changes(void *arg)
{
	struct gate_entry entry;

	while (!atomic_load(&race.stop)) {
		uint64_t until = clock_boot() + 2000;

		if (gate_enter(gate, object_key_own(9), until, &entry))
			continue;
		while (clock_boot() < until + 2000)
			;
		gate_leave(gate, &entry);
	}
	return NULL;
}

static void wait_once(unsigned int i)
{
	struct sleeper s = { .wait = { .go = wake } };

	if (!gate_wait(gate, object_key_own(9), &s.wait))
		return;
	if (i % 3 == 0 && gate_cancel(gate, object_key_own(9), &s.wait))
		return;
	while (!atomic_load(&s.went))
		sched_yield();
	ck_assert_uint_eq(atomic_load(&s.went), 1);
	ck_assert(!gate_cancel(gate, object_key_own(9), &s.wait));
}

START_TEST(every_wait_ends)
{
	pthread_t thread;
	unsigned int i;

	ck_assert_int_eq(gate_open(clock_boot, &gate), 0);
	pthread_create(&thread, NULL, makes_changes, NULL);
	for (i = 0; i < WAKES; i++)
		wait_once(i);
	atomic_store(&race.stop, true);
	pthread_join(thread, NULL);
	gate_close(gate);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate");
	TCase *model = tcase_create("model"),
	      *threads = tcase_create("threads");

	tcase_add_checked_fixture(model, open_fake, close_it);
	tcase_add_loop_test(model, as_the_model_says, 0, 5);
	tcase_add_test(model, oldest_counts);
	tcase_add_test(model, late_does_not_enter);
	tcase_add_test(model, neighbours_do_not_wait);
	tcase_add_test(model, swapped_when_nobody_changed_it);
	tcase_set_timeout(threads, 100);
	tcase_add_test(threads, nobody_passes);
	tcase_add_test(threads, every_wait_ends);
	suite_add_tcase(s, model);
	suite_add_tcase(s, threads);
	return run_suite(s);
}
