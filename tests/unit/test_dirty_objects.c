/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_dirty_objects.c - which sessions get a write-back error: random writes, flushes and errors,
 * compared with a model that remembers every write.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/store/dirty_objects.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "server/store/store_int.h"

#define SESSIONS 5u
#define OBJECTS 6u
#define WRITES 8u /* concurrent writes of a session to an object */
#define FLUSHES 4u /* concurrent flushes of a session */
#define STEPS 100000u

static struct object_store store;
static struct rnd rnd;

/* The expected state of an object in a session that has forgotten nothing. */
struct model {
	unsigned int nrunning;
	struct dirty_object *running[WRITES];
	unsigned long unsafe; /* writes that have ended and are not stable */
	int told; /* -errno that a flush must return, or 0 */
};

struct flush {
	struct dirty_objects_flush real;
	unsigned int object;
	bool busy;
	unsigned long covers; /* the value of model.unsafe at its begin */
	unsigned long era;
};

static struct session {
	struct dirty_objects real;
	struct model object[OBJECTS];
	/* incremented when something became stable */
	unsigned long era[OBJECTS];
	struct flush flush[FLUSHES];
	bool wide;
	int wide_told;
} sessions[SESSIONS];

/* Objects 2n and 2n + 1 are of one file. */
static struct object_key key_of(unsigned int object)
{
	return (struct object_key){ object / 2, object % 2 * 1024 };
}

static void setup(unsigned int max)
{
	memset(&store, 0, sizeof(store));
	memset(sessions, 0, sizeof(sessions));
	writeback_errors_init(&store.errors, max);
}

static void teardown(void)
{
	for (unsigned int i = 0; i < SESSIONS; i++)
		dirty_objects_free(&sessions[i].real, &store);
	ck_assert_uint_eq(store.errors.users, 0);
	ck_assert_ptr_null(store.errors.objs);
	writeback_errors_destroy(&store.errors);
}

static void begin_write(struct session *s, unsigned int object)
{
	struct model *m = &s->object[object];
	struct dirty_object *mark;

	if (m->nrunning == WRITES)
		return;
	mark = dirty_objects_write_begin(&s->real, &store, key_of(object));
	if (mark)
		m->running[m->nrunning++] = mark;
	else
		s->wide = true;
	ck_assert(mark || store.errors.users == store.errors.max);
}

static void end_write(struct session *s, unsigned int object)
{
	struct model *m = &s->object[object];

	if (!m->nrunning)
		return;
	dirty_object_write_end(m->running[--m->nrunning]);
	m->unsafe++;
}

static void lose(unsigned int object)
{
	int status = rnd_in(&rnd, 0, 1) ? -EIO : -ENOSPC;

	writeback_errors_add(&store.errors, key_of(object), status);
	for (struct session *s = sessions; s < sessions + SESSIONS; s++) {
		struct model *m = &s->object[object];

		if (m->unsafe || m->nrunning)
			m->told = status;
		if (s->wide)
			s->wide_told = status;
	}
}

static void begin_flush(struct session *s, struct flush *f, unsigned int object)
{
	f->busy = true;
	f->object = object;
	f->covers = s->object[object].unsafe;
	f->era = s->era[object];
	dirty_objects_flush_begin(&s->real, key_of(object), &f->real);
}

/* Writes that another flush has made stable meanwhile are not counted twice. */
static void make_stable(struct session *s, const struct flush *f)
{
	struct model *m = &s->object[f->object];
	unsigned long gone = s->era[f->object] - f->era;

	if (f->covers <= gone)
		return;
	m->unsafe -= f->covers - gone;
	s->era[f->object] += f->covers - gone;
}

static void end_flush(struct session *s, struct flush *f)
{
	struct model *m = &s->object[f->object];
	int want = m->told ? m->told : s->wide_told;

	f->busy = false;
	ck_assert_int_eq(dirty_objects_flush_end(&s->real, &store, &f->real, 0),
			 want);
	m->told = 0;
	s->wide_told = 0;
	make_stable(s, f);
}

static void step(void)
{
	struct session *s = &sessions[rnd_in(&rnd, 0, SESSIONS - 1)];
	struct flush *f = &s->flush[rnd_in(&rnd, 0, FLUSHES - 1)];
	unsigned int object = (unsigned int)rnd_in(&rnd, 0, OBJECTS - 1);
	uint64_t what = rnd_in(&rnd, 0, 99);

	if (what < 25)
		begin_write(s, object);
	else if (what < 55)
		end_write(s, object);
	else if (what < 60)
		lose(object);
	else if (f->busy)
		end_flush(s, f);
	else
		begin_flush(s, f, object);
}

static void finish(void)
{
	for (struct session *s = sessions; s < sessions + SESSIONS; s++)
		for (unsigned int i = 0; i < OBJECTS; i++)
			while (s->object[i].nrunning)
				end_write(s, i);
}

START_TEST(like_the_model)
{
	rnd_init(&rnd, (uint64_t)_i + 1);
	setup(0);
	for (unsigned int i = 0; i < STEPS; i++)
		step();
	finish();
	teardown();
}
END_TEST

/* If there is no room, all sessions get all errors, rather than none. */
START_TEST(without_room)
{
	rnd_init(&rnd, (uint64_t)_i + 1);
	setup(4);
	for (unsigned int i = 0; i < STEPS; i++)
		step();
	for (unsigned int i = 0; i < SESSIONS; i++)
		ck_assert(sessions[i].real.wide);
	finish();
	teardown();
}
END_TEST

/* The error of a flush itself is returned, and not reported again. */
START_TEST(told_once)
{
	struct dirty_objects a = { 0 }, b = { 0 };
	struct dirty_objects_flush f;

	setup(0);
	dirty_object_write_end(
		dirty_objects_write_begin(&a, &store, key_of(1)));
	dirty_object_write_end(
		dirty_objects_write_begin(&b, &store, key_of(1)));
	dirty_objects_flush_begin(&a, key_of(1), &f);
	writeback_errors_add(&store.errors, key_of(1), -EIO);
	ck_assert_int_eq(dirty_objects_flush_end(&a, &store, &f, -EIO), -EIO);
	ck_assert(writeback_errors_has(&store.errors,
				       key_of(1))); /* kept for b */
	dirty_objects_flush_begin(&a, key_of(1), &f);
	ck_assert_int_eq(dirty_objects_flush_end(&a, &store, &f, 0), 0);
	dirty_objects_flush_begin(&b, key_of(1), &f);
	ck_assert_int_eq(dirty_objects_flush_end(&b, &store, &f, 0), -EIO);
	ck_assert(!writeback_errors_has(&store.errors, key_of(1)));
	dirty_objects_flush_begin(&b, key_of(1), &f);
	ck_assert_int_eq(dirty_objects_flush_end(&b, &store, &f, 0), 0);
	teardown();
}
END_TEST

/* A write that only reaches a page cache in memory cannot fail later. */
START_TEST(none_in_memory)
{
	struct dirty_objects a = { 0 };

	setup(0);
	store.memory = true;
	ck_assert_ptr_null(dirty_objects_write_begin(&a, &store, key_of(1)));
	ck_assert(!a.wide);
	teardown();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dirty_objects");
	TCase *tc = tcase_create("errors");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, like_the_model, 0, 5);
	tcase_add_loop_test(tc, without_room, 0, 5);
	tcase_add_test(tc, told_once);
	tcase_add_test(tc, none_in_memory);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
