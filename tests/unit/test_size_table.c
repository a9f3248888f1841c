/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_size_table.c - the table of sizes, compared with a model, and read byte by byte while it
 * changes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "server/store/size_table.h"

#define PLACES 4u
#define HANDLES 10u
#define TOLD 64u
#define GROUP 1024u
#define MS CLOCK_NS_PER_MS

static struct size_table *shown;
static uint64_t now;

static uint64_t fake_clock(void)
{
	return now;
}

/* ---- the model ---- */

struct object {
	uint64_t size; /* the size that look() returns */
	unsigned int inside; /* number of changes in progress */
	size_t at; /* its place, even if another object has it */
	uint64_t tag; /* 0: it is not shown */
	uint64_t told;
	bool sick; /* its size cannot be read */
};

static struct object object[HANDLES + 1]; /* by number, from 1 */

/* Objects 2n and 2n + 1 are of one file. */
static struct object_key key_of(unsigned int number)
{
	return (struct object_key){ 1 + number / 2, number % 2 * GROUP };
}

static int model_look(void *arg, struct object_key key, struct object_size *st)
{
	const struct object *o =
		&object[2 * (key.handle - 1) + key.copyset / GROUP];

	*st = (struct object_size){ .size = o->size,
				    .blocks = o->size / 512,
				    .mtime = o->size + 1 };
	return o->sick ? -EIO : 0;
}

static void open_fake(void)
{
	const struct size_table_attr attr = { .places = PLACES,
					      .look = model_look,
					      .clock = fake_clock };

	memset(object, 0, sizeof(object));
	now = 1000000 * MS;
	ck_assert_int_eq(size_table_open(&attr, &shown), 0);
}

static void close_it(void)
{
	size_table_close(shown);
}

/* A place that a client was told once, and reads since then. */
struct told {
	unsigned int handle;
	size_t at;
	uint64_t tag;
};

static struct told told[TOLD];

static const struct wire_end *words_at(size_t at)
{
	size_t len;
	const uint8_t *memory = size_table_memory(shown, &len);

	ck_assert_uint_le(at + sizeof(struct wire_end), len);
	return (const void *)(memory + at);
}

static bool place_is_busy(size_t at)
{
	unsigned int h;

	for (h = 1; h <= HANDLES; h++)
		if (object[h].at == at && object[h].inside)
			return true;
	return false;
}

static void look_at(const struct told *t)
{
	const struct object *o = &object[t->handle];
	const struct wire_end *words = words_at(t->at);
	bool holds = wire_end_holds(words, t->tag);

	if (o->tag != t->tag || o->inside) {
		ck_assert(!holds);
		return;
	}
	if (!holds) { /* the table must have a reason */
		ck_assert(place_is_busy(t->at) || o->sick);
		return;
	}
	ck_assert_uint_eq(le64toh(words->size), o->size);
	ck_assert_uint_eq(le64toh(words->blocks), o->size / 512);
	ck_assert_uint_eq(le64toh(words->mtime), o->size + 1);
}

static void look_at_all(void)
{
	unsigned int i;

	for (i = 0; i < TOLD; i++)
		if (told[i].handle)
			look_at(&told[i]);
}

/* ---- events ---- */

static void take_place(unsigned int handle, uint64_t tag)
{
	unsigned int h;

	for (h = 1; h <= HANDLES; h++)
		if (h != handle && object[h].at == object[handle].at)
			object[h].tag = 0;
	object[handle].tag = tag;
	object[handle].told = now;
}

static bool place_is_held(unsigned int handle)
{
	unsigned int h;

	for (h = 1; h <= HANDLES; h++)
		if (h != handle && object[h].at == object[handle].at &&
		    object[h].tag &&
		    now - object[h].told < SIZE_TABLE_HOLD_MS * MS)
			return true;
	return false;
}

static void tell(struct rnd *r, unsigned int handle)
{
	struct told *t = &told[rnd_in(r, 0, TOLD - 1)];
	uint64_t tag, before = object[handle].tag;
	bool held = place_is_held(handle);
	size_t at;

	ck_assert(size_table_place(shown, key_of(handle), &at, &tag) == !held);
	if (held)
		return;
	ck_assert_uint_eq(at, object[handle].at);
	ck_assert(tag && (!before || tag == before));
	take_place(handle, tag);
	*t = (struct told){ handle, at, tag };
	ck_assert(object[handle].sick || place_is_busy(at) ||
		  wire_end_holds(words_at(at), tag));
}

static void enter(unsigned int handle)
{
	object[handle].inside++;
	size_table_change_begin(shown, key_of(handle));
}

static void leave(struct rnd *r, unsigned int handle)
{
	size_t at = object[handle].at;
	unsigned int h;

	object[handle].size = rnd_in(r, 0, UINT32_MAX);
	object[handle].inside--;
	size_table_change_end(shown, key_of(handle));
	if (place_is_busy(at))
		return;
	for (h = 1; h <= HANDLES; h++)
		if (object[h].at == at &&
		    now - object[h].told >= SIZE_TABLE_IDLE_MS * MS &&
		    words_at(at)->tag == 0)
			object[h].tag = 0;
}

static void step(struct rnd *r)
{
	unsigned int handle = (unsigned int)rnd_in(r, 1, HANDLES);

	now += rnd_in(r, 0, 200) ? rnd_in(r, 0, 400) * MS
				 : SIZE_TABLE_IDLE_MS * MS;
	if (rnd_in(r, 0, 30) == 0)
		object[handle].sick = !object[handle].sick;
	if (rnd_in(r, 0, 2) == 0)
		tell(r, handle);
	else if (object[handle].inside && rnd_in(r, 0, 2))
		leave(r, handle);
	else if (object[handle].inside < 3)
		enter(handle);
	look_at_all();
}

/* The table decides which objects share a place; finds them out. */
static void find_places(void)
{
	unsigned int h;
	uint64_t tag;

	for (h = 1; h <= HANDLES; h++) {
		ck_assert(size_table_place(shown, key_of(h), &object[h].at,
					   &tag));
		take_place(h, tag);
		now += SIZE_TABLE_HOLD_MS * MS;
	}
}

START_TEST(as_the_model_says)
{
	struct rnd r;
	unsigned int i, shows = 0;

	rnd_init(&r, 77 + (uint64_t)_i);
	memset(told, 0, sizeof(told));
	find_places();
	for (i = 0; i < 20000; i++)
		step(&r);
	for (i = 1; i <= HANDLES; i++)
		shows += object[i].tag != 0;
	ck_assert_uint_eq(size_table_count(shown), shows);
}
END_TEST

/* A place that was not used for long costs changes nothing any more. */
START_TEST(idle_ones_end)
{
	uint64_t tag, again;
	size_t at;

	ck_assert(size_table_place(shown, key_of(3), &at, &tag));
	now += SIZE_TABLE_IDLE_MS * MS;
	ck_assert(wire_end_holds(words_at(at), tag));
	size_table_change_begin(shown, key_of(3));
	size_table_change_end(shown, key_of(3));
	ck_assert(!wire_end_holds(words_at(at), tag));
	ck_assert_uint_eq(size_table_count(shown), 0);
	ck_assert(size_table_place(shown, key_of(3), &at, &again));
	ck_assert_uint_ne(again, tag);
	ck_assert(!wire_end_holds(words_at(at), tag));
}
END_TEST

/* A word of another moment, and a flipped bit, is detected. */
START_TEST(mixtures_do_not_hold)
{
	struct wire_end a, b, c;
	uint64_t tag;
	unsigned int i;
	size_t at;

	object[5].size = 4096;
	ck_assert(size_table_place(shown, key_of(5), &at, &tag));
	memcpy(&a, words_at(at), sizeof(a));
	size_table_change_begin(shown, key_of(5));
	object[5].size = 4097;
	size_table_change_end(shown, key_of(5));
	memcpy(&b, words_at(at), sizeof(b));
	ck_assert(wire_end_holds(&a, tag) && wire_end_holds(&b, tag));
	for (i = 1; i < sizeof(a); i++) {
		memcpy(&c, &a, sizeof(c));
		memcpy(&c, &b, i);
		ck_assert(!wire_end_holds(&c, tag) ||
			  !memcmp(&c, &a, sizeof(c)) ||
			  !memcmp(&c, &b, sizeof(c)));
	}
	for (i = 0; i < 8 * sizeof(a); i++) {
		memcpy(&c, &a, sizeof(c));
		((uint8_t *)&c)[i / 8] ^= (uint8_t)(1u << i % 8);
		ck_assert(!wire_end_holds(&c, tag));
	}
}
END_TEST

/* ---- threads ---- */

#define WRITERS 2u
#define ROUNDS 30000u

struct race {
	_Atomic uint64_t size, answered, begun;
	atomic_uint running;
};

static struct race race;

static int race_look(void *arg, struct object_key key, struct object_size *st)
{
	*st = (struct object_size){ .size = atomic_load(&race.size) };
	return 0;
}

/* Makes the object longer, and acknowledges that. */
static void *grows(void *arg)
{
	uint64_t size;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		atomic_fetch_add(&race.begun, 1);
		size_table_change_begin(shown, object_key_own(9));
		size = atomic_fetch_add(&race.size, 1) + 1;
		size_table_change_end(shown, object_key_own(9));
		for (uint64_t was = atomic_load(&race.answered);
		     was < size &&
		     !atomic_compare_exchange_weak(&race.answered, &was, size);)
			;
	}
	atomic_fetch_sub(&race.running, 1);
	return NULL;
}

/* Reads as an adapter may: bytes in no defined order. */
static void read_bytes(size_t at, struct wire_end *out)
{
	const uint8_t *from = (const void *)words_at(at);
	unsigned int i;

	for (i = 0; i < sizeof(*out); i++) {
		unsigned int k = (i * 29) % sizeof(*out);

		((uint8_t *)out)[k] = __atomic_load_n(&from[k],
						      __ATOMIC_RELAXED);
	}
}

static unsigned int read_once(size_t at, uint64_t tag)
{
	uint64_t least = atomic_load(&race.answered), size;
	struct wire_end end;

	read_bytes(at, &end);
	if (!wire_end_holds(&end, tag))
		return 0;
	size = le64toh(end.size);
	ck_assert_uint_ge(size, least);
	ck_assert_uint_le(size, atomic_load(&race.begun));
	return 1;
}

START_TEST(readers_see_what_was_answered)
{
	const struct size_table_attr attr = { .places = 1,
					      .look = race_look,
					      .clock = clock_now };
	pthread_t thread[WRITERS];
	unsigned int i, held = 0;
	uint64_t tag;
	size_t at;

	ck_assert_int_eq(size_table_open(&attr, &shown), 0);
	ck_assert(size_table_place(shown, object_key_own(9), &at, &tag));
	atomic_store(&race.running, WRITERS);
	for (i = 0; i < WRITERS; i++)
		pthread_create(&thread[i], NULL, grows, NULL);
	while (atomic_load(&race.running))
		held += read_once(at, tag);
	for (i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	held += read_once(at, tag);
	ck_assert_uint_ge(held, 1);
	size_table_close(shown);
}
END_TEST

START_TEST(nobody_reads)
{
	uint64_t tag;
	size_t at;

	size_table_change_begin(NULL, object_key_own(9));
	ck_assert(!size_table_place(NULL, object_key_own(9), &at, &tag));
	size_table_change_end(NULL, object_key_own(9));
	ck_assert_uint_eq(size_table_count(NULL), 0);
	size_table_close(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("size_table");
	TCase *model = tcase_create("model"),
	      *threads = tcase_create("threads");

	tcase_add_checked_fixture(model, open_fake, close_it);
	tcase_set_timeout(model, 100);
	tcase_add_loop_test(model, as_the_model_says, 0, 5);
	tcase_add_test(model, idle_ones_end);
	tcase_add_test(model, mixtures_do_not_hold);
	tcase_set_timeout(threads, 100);
	tcase_add_test(threads, readers_see_what_was_answered);
	tcase_add_test(threads, nobody_reads);
	suite_add_tcase(s, model);
	suite_add_tcase(s, threads);
	return run_suite(s);
}
