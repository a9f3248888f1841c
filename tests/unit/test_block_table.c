/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_block_table.c - shared blocks, compared with a model, and read byte by byte while they
 * change.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/block.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "server/store/block_table.h"

#define PLACES 7u
#define HANDLES 4u
#define BLOCKS 6u

static struct block_table *share;
static struct rnd rnd;

/* ---- the model: all bytes of an object have the same value ---- */

struct object {
	uint64_t handle;
	uint8_t byte;
	uint64_t size;
	unsigned int inside; /* number of changes in progress */
};

static struct object object[HANDLES];
static bool disturbs; /* a change happens while a block is filled */
static bool fails; /* the read would have to wait for some bytes */

static void open_it(void)
{
	unsigned int h;

	ck_assert_int_eq(block_table_open(PLACES * sizeof(struct wire_block),
					  &share),
			 0);
	for (h = 0; h < HANDLES; h++)
		object[h] = (struct object){ .handle = 1000 + h,
					     .size = BLOCKS * WIRE_BLOCK };
	disturbs = fails = false;
}

static void close_it(void)
{
	block_table_close(share);
}

static void enter(struct object *o)
{
	block_table_change_begin(share, o->handle);
	o->inside++;
}

static void leave(struct object *o)
{
	o->byte++;
	o->size = rnd_in(&rnd, 0, BLOCKS * WIRE_BLOCK);
	o->inside--;
	block_table_change_end(share, o->handle);
}

static int model_read(void *arg, void *buf, uint64_t off)
{
	const struct object *o = arg;
	uint64_t len = o->size > off ? o->size - off : 0;

	len = len < WIRE_BLOCK ? len : WIRE_BLOCK;
	memset(buf, o->byte, len);
	if (disturbs && rnd_in(&rnd, 0, 1)) {
		enter(arg);
		leave(arg);
	}
	return fails && !rnd_in(&rnd, 0, 9) ? -EAGAIN : (int)len;
}

static const struct wire_block *block_of(const struct object *o, uint64_t n)
{
	uint64_t places;
	size_t len;
	const struct wire_block *block = block_table_memory(share, &len,
							    &places);

	ck_assert_uint_eq(places, PLACES);
	return &block[wire_block_place(o->handle, n, places)];
}

static bool holds(const struct object *o, uint64_t n)
{
	return wire_block_holds(block_of(o, n), o->handle, n, 1);
}

static void look_at(const struct object *o, uint64_t n)
{
	const struct wire_block *block = block_of(o, n);
	uint64_t left = o->size > n * WIRE_BLOCK ? o->size - n * WIRE_BLOCK : 0;
	uint32_t i, len = le32toh(block->len);

	if (!holds(o, n))
		return;
	ck_assert_uint_eq(o->inside, 0);
	ck_assert_uint_eq(len, left < WIRE_BLOCK ? left : WIRE_BLOCK);
	ck_assert(!wire_block_holds(block, o->handle, n, len + 1));
	ck_assert(!wire_block_holds(block, o->handle, n + PLACES, 1));
	for (i = 0; i < len; i++)
		ck_assert_uint_eq(block->data[i], o->byte);
}

static unsigned int look_at_all(void)
{
	unsigned int h, n, found = 0;

	for (h = 0; h < HANDLES; h++)
		for (n = 0; n < BLOCKS; n++) {
			look_at(&object[h], n);
			found += holds(&object[h], n);
		}
	ck_assert_uint_eq(block_table_blocks(share), found);
	return found;
}

static void step(void)
{
	struct object *o = &object[rnd_in(&rnd, 0, HANDLES - 1)];
	uint64_t n = rnd_in(&rnd, 0, BLOCKS - 1);

	if (rnd_in(&rnd, 0, 9)) {
		block_table_note_block(share, o->handle, n, model_read, o);
		if (rnd_in(&rnd, 0, 1))
			block_table_note_block(share, o->handle, n, model_read,
					       o);
	} else if (o->inside && rnd_in(&rnd, 0, 3)) {
		leave(o);
	} else if (o->inside < 2) {
		enter(o);
	}
}

START_TEST(as_the_model_says)
{
	unsigned int i, most = 0, found;

	rnd_init(&rnd, 5 + (uint64_t)_i);
	disturbs = _i & 1;
	fails = _i & 2;
	for (i = 0; i < 5000; i++) {
		step();
		found = look_at_all();
		most = found > most ? found : most;
	}
	ck_assert_uint_ge(most, 3);
}
END_TEST

START_TEST(second_time)
{
	struct object *o = &object[1];

	rnd_init(&rnd, 1);
	o->size = 5000;
	block_table_note_block(share, o->handle, 1, model_read, o);
	ck_assert(!holds(o, 1));
	block_table_note_block(share, o->handle, 1, model_read, o);
	ck_assert(holds(o, 1));
	ck_assert(wire_block_holds(block_of(o, 1), o->handle, 1, 904));
	ck_assert(!wire_block_holds(block_of(o, 1), o->handle, 1, 905));
	enter(o);
	ck_assert(!holds(o, 1) && !holds(o, 0));
	block_table_note_block(share, o->handle, 1, model_read, o);
	block_table_note_block(share, o->handle, 1, model_read, o);
	ck_assert(!holds(o, 1));
}
END_TEST

/* Every flipped bit is detected. */
START_TEST(wrong_bits_do_not_hold)
{
	struct object *o = &object[2];
	struct wire_block copy;
	unsigned int i;

	rnd_init(&rnd, 2);
	while (!holds(o, 3))
		block_table_note_block(share, o->handle, 3, model_read, o);
	for (i = 0; i < 8 * sizeof(copy); i += i < 512 ? 1 : 61) {
		if (i / 8 >= offsetof(struct wire_block, spare) &&
		    i / 8 < offsetof(struct wire_block, data))
			continue;
		memcpy(&copy, block_of(o, 3), sizeof(copy));
		((uint8_t *)&copy)[i / 8] ^= (uint8_t)(1u << i % 8);
		ck_assert(!wire_block_holds(&copy, o->handle, 3, 1));
	}
}
END_TEST

/* ---- threads ---- */

#define ROUNDS 4000u

static struct {
	/* all have the same value, or are being changed */
	uint8_t data[WIRE_BLOCK];
	_Atomic uint64_t begun, answered;
	atomic_bool stop;
} race;

static int race_read(void *arg, void *buf, uint64_t off)
{
	unsigned int i;

	for (i = 0; i < WIRE_BLOCK; i++)
		__atomic_store_n((uint8_t *)buf + i,
				 __atomic_load_n(&race.data[i],
						 __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	return WIRE_BLOCK;
}

static void *overwrites(void *arg)
{
	uint64_t n;
	unsigned int i;

	for (n = 1; n <= ROUNDS; n++) {
		atomic_store(&race.begun, n);
		block_table_change_begin(share, 9);
		for (i = 0; i < WIRE_BLOCK; i++)
			__atomic_store_n(&race.data[i], (uint8_t)n,
					 __ATOMIC_RELAXED);
		block_table_change_end(share, 9);
		atomic_store(&race.answered, n);
		for (i = 0; n % 8 == 0 && i < 20; i++)
			sched_yield();
	}
	atomic_store(&race.stop, true);
	return NULL;
}

static void *fills(void *arg)
{
	while (!atomic_load(&race.stop))
		block_table_note_block(share, 9, 0, race_read, NULL);
	return NULL;
}

/* Reads as an adapter may, in no defined order. */
static void read_bytes(struct wire_block *out)
{
	uint64_t places;
	size_t len;
	const uint8_t *from = block_table_memory(share, &len, &places);
	unsigned int i, k;

	for (i = 0; i < sizeof(*out); i++) {
		k = i * 1217u % sizeof(*out);
		((uint8_t *)out)[k] = __atomic_load_n(&from[k],
						      __ATOMIC_RELAXED);
	}
}

static unsigned int read_once(struct wire_block *block)
{
	uint64_t least = atomic_load(&race.answered), n, most;
	unsigned int i;

	read_bytes(block);
	if (!wire_block_holds(block, 9, 0, WIRE_BLOCK))
		return 0;
	most = atomic_load(&race.begun);
	for (i = 1; i < WIRE_BLOCK; i++)
		ck_assert_uint_eq(block->data[i], block->data[0]);
	for (n = least; n <= most && (uint8_t)n != block->data[0]; n++)
		;
	ck_assert_uint_le(n, most);
	return 1;
}

START_TEST(readers_see_what_was_answered)
{
	static struct wire_block block;
	pthread_t writer, filler;
	unsigned int held = 0;

	ck_assert_int_eq(block_table_open(sizeof(struct wire_block), &share),
			 0);
	pthread_create(&writer, NULL, overwrites, NULL);
	pthread_create(&filler, NULL, fills, NULL);
	while (!atomic_load(&race.stop))
		held += read_once(&block);
	pthread_join(writer, NULL);
	pthread_join(filler, NULL);
	block_table_note_block(share, 9, 0, race_read, NULL);
	block_table_note_block(share, 9, 0, race_read, NULL);
	held += read_once(&block);
	ck_assert_uint_ge(held, 1);
	block_table_close(share);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("block_table");
	TCase *model = tcase_create("model"),
	      *threads = tcase_create("threads");

	tcase_add_checked_fixture(model, open_it, close_it);
	tcase_set_timeout(model, 100);
	tcase_add_loop_test(model, as_the_model_says, 0, 6);
	tcase_add_test(model, second_time);
	tcase_add_test(model, wrong_bits_do_not_hold);
	tcase_set_timeout(threads, 600);
	tcase_add_test(threads, readers_see_what_was_answered);
	suite_add_tcase(s, model);
	suite_add_tcase(s, threads);
	return run_suite(s);
}
