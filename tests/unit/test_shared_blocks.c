/* SPDX-License-Identifier: BSD-2-Clause */
/* test_shared_blocks.c - which blocks of objects are shared, and which changes end that. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/block.h"
#include "common/util/clock.h"
#include "tests/run_suite.h"
#include "server/store/object_store.h"
#include "server/store/store_engine.h"
#include "server/store/disk_pool.h"

#define HANDLE 77u
#define KEY object_key_own(HANDLE)
#define SIZE (40u * WIRE_BLOCK)
#define FAR (UINT64_C(1) << 62)

static char dir[64];
static struct object_store *store;
static struct store_obj *obj;
static struct disk_pool *pool;

static void write_all(uint8_t byte)
{
	static uint8_t data[SIZE];
	struct gate_entry entry;

	memset(data, byte, sizeof(data));
	ck_assert_int_eq(store_obj_enter(obj, CLOCK_NEVER, &entry), 0);
	ck_assert_int_eq(store_obj_write(obj, data, sizeof(data), 0), 0);
	store_obj_leave(obj, &entry);
}

static void open_it(void)
{
	struct object_store_attr attr = {
		.dir = dir, .fsid = 1, .index = 0, .share = 1u << 20
	};

	strcpy(dir, "/tmp/pvfs-seen-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(store_open(&attr, &store), 0);
	ck_assert_int_eq(store_obj_get(store, KEY, true, &obj), 0);
	ck_assert_int_eq(disk_pool_open(0, &pool), 0);
	write_all(1);
}

static int rm_one(const char *path, const struct stat *sb, int type,
		  struct FTW *ftw)
{
	return remove(path);
}

static void close_it(void)
{
	disk_pool_close(pool);
	store_obj_put(obj);
	store_close(store);
	ck_assert_int_eq(nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static const struct wire_block *block_of(uint64_t number)
{
	uint64_t places;
	size_t len;
	const struct wire_block *block =
		block_table_memory(store_block_table(store), &len, &places);

	return &block[wire_block_place(HANDLE, number, places)];
}

static bool is_there(uint64_t number, uint8_t byte)
{
	const struct wire_block *block = block_of(number);

	return wire_block_holds(block, HANDLE, number, 1) &&
	       block->data[0] == byte;
}

static unsigned int blocks(void)
{
	return block_table_blocks(store_block_table(store));
}

/* A write that bypasses the page cache removes the range from it; the next read loads it again. */
static void see(uint64_t off, uint64_t len)
{
	const struct store_seg seg = { off, len };
	uint8_t data[2 * WIRE_BLOCK];
	size_t done;

	ck_assert_uint_le(len, sizeof(data));
	ck_assert_int_eq(store_obj_read(obj, data, len, off, &done), 0);
	store_obj_note_read(obj, &seg, 1, SIZE);
}

/* A block is shared at its second read. */
static void see_twice(uint64_t off, uint64_t len)
{
	see(off, len);
	see(off, len);
}

START_TEST(what_was_read)
{
	see(5 * WIRE_BLOCK + 100, WIRE_BLOCK);
	ck_assert_uint_eq(blocks(), 0);
	see(5 * WIRE_BLOCK + 100, WIRE_BLOCK);
	ck_assert_uint_eq(blocks(), 2);
	ck_assert(is_there(5, 1) && is_there(6, 1));
	see_twice(0, WIRE_BLOCK);
	ck_assert_uint_eq(blocks(), 3);
	ck_assert(is_there(0, 1) && !is_there(1, 1));
}
END_TEST

/* Nothing beyond the end is considered, however large the range is. */
START_TEST(beyond_the_end)
{
	const struct store_seg seg[] = { { SIZE - 10, FAR },
					 { SIZE, FAR },
					 { 2 * FAR - WIRE_BLOCK, WIRE_BLOCK } };

	store_obj_note_read(obj, seg, 3, SIZE);
	store_obj_note_read(obj, seg, 3, SIZE);
	ck_assert_uint_eq(blocks(), 1);
	ck_assert(is_there(SIZE / WIRE_BLOCK - 1, 1));
	ck_assert_uint_eq(block_table_filled(store_block_table(store)), 1);
}
END_TEST

START_TEST(a_few_of_many)
{
	struct store_seg seg[40];
	unsigned int i;

	for (i = 0; i < 40; i++)
		seg[i] = (struct store_seg){ (uint64_t)i * WIRE_BLOCK + 7, 1 };
	store_obj_note_read(obj, seg, 40, SIZE);
	store_obj_note_read(obj, seg, 40, SIZE);
	ck_assert_uint_eq(blocks(), 8);
}
END_TEST

/* Two parts of a block do not count as two reads. */
START_TEST(two_pieces)
{
	const struct store_seg seg[] = { { 10, 20 }, { 50, 20 } };

	store_obj_note_read(obj, seg, 2, SIZE);
	ck_assert_uint_eq(blocks(), 0);
	store_obj_note_read(obj, seg, 2, SIZE);
	ck_assert_uint_eq(blocks(), 1);
}
END_TEST

/* ---- changes of shared blocks ---- */

static int io_status;

static void io_over(struct store_io *io, int status)
{
	io_status = status;
}

/* In a pool without threads everything is executed at once. */
static void by_engine(const struct store_engine *engine)
{
	static _Alignas(4096) uint8_t data[16 * WIRE_BLOCK];
	const struct store_seg seg = { 0, sizeof(data) };
	struct store_io io = { .obj = obj,
			       .pool = pool,
			       .seg = &seg,
			       .buf = data,
			       .len = sizeof(data),
			       .expiry = CLOCK_NEVER,
			       .done = io_over };
	int rc;

	memset(data, 2, sizeof(data));
	rc = engine->write(&io);
	ck_assert_int_eq(rc == -EINPROGRESS ? io_status : rc, 0);
}

static void cached(void)
{
	by_engine(&store_engine_cached);
}

static void direct(void)
{
	by_engine(&store_engine_direct);
}

/* A late change is not executed, and other blocks are read again. */
static void too_late(void)
{
	struct gate_entry entry;

	ck_assert_int_eq(store_obj_enter(obj, 1, &entry), -ETIMEDOUT);
}

static void touched(void)
{
	ck_assert_int_eq(store_obj_touch(obj), 0);
}

static void lent(void)
{
	store_change_begin(store, KEY);
	see_twice(0, WIRE_BLOCK);
	ck_assert_uint_eq(blocks(), 0);
	store_change_end(store, KEY);
}

static const struct {
	void (*change)(void);
	uint8_t byte; /* the byte that a read then returns */
} changes[] = {
	{ cached, 2 },	{ direct, 2 }, { too_late, 1 },
	{ touched, 1 }, { lent, 1 },
};

START_TEST(taken_away)
{
	see_twice(0, WIRE_BLOCK);
	see_twice(20 * WIRE_BLOCK, WIRE_BLOCK);
	ck_assert(is_there(0, 1) && is_there(20, 1));
	changes[_i].change();
	ck_assert_uint_eq(blocks(), 0);
	ck_assert(!wire_block_holds(block_of(0), HANDLE, 0, 1));
	ck_assert(!wire_block_holds(block_of(20), HANDLE, 20, 1));
	see_twice(0, WIRE_BLOCK);
	ck_assert(is_there(0, changes[_i].byte));
}
END_TEST

/* A client that opened the object before can still read it, but its reads must not fill blocks. */
START_TEST(removed)
{
	see_twice(0, WIRE_BLOCK);
	ck_assert_uint_eq(blocks(), 1);
	ck_assert_int_eq(store_remove(store, KEY, false), 0);
	ck_assert_uint_eq(blocks(), 0);
	see_twice(0, WIRE_BLOCK);
	see_twice(0, WIRE_BLOCK);
	ck_assert_uint_eq(blocks(), 0);
}
END_TEST

/* The table names blocks by handle, so only objects of the own group are in it. */
START_TEST(other_object_of_the_file)
{
	struct store_obj *own = obj;

	ck_assert_int_eq(store_obj_get(store,
				       (struct object_key){ HANDLE, 1024 },
				       true, &obj),
			 0);
	write_all(9);
	see_twice(0, WIRE_BLOCK);
	ck_assert_uint_eq(blocks(), 0);
	store_obj_put(obj);
	obj = own;
	see_twice(0, WIRE_BLOCK);
	ck_assert(is_there(0, 1));
}
END_TEST

/* Without attr.share there is no table. */
START_TEST(off)
{
	struct object_store_attr attr = { .dir = dir, .fsid = 1, .index = 0 };

	store_obj_put(obj);
	store_close(store);
	ck_assert_int_eq(store_open(&attr, &store), 0);
	ck_assert_int_eq(store_obj_get(store, KEY, true, &obj), 0);
	ck_assert_ptr_null(store_block_table(store));
	see_twice(0, WIRE_BLOCK);
	write_all(3);
	ck_assert_uint_eq(blocks(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shared_blocks");
	TCase *tc = tcase_create("seen");

	tcase_add_checked_fixture(tc, open_it, close_it);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_was_read);
	tcase_add_test(tc, beyond_the_end);
	tcase_add_test(tc, a_few_of_many);
	tcase_add_test(tc, two_pieces);
	tcase_add_loop_test(tc, taken_away, 0,
			    (int)(sizeof(changes) / sizeof(changes[0])));
	tcase_add_test(tc, removed);
	tcase_add_test(tc, other_object_of_the_file);
	tcase_add_test(tc, off);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
