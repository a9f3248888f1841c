/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_unsynced.c - the errors of fsync after hosts were restarted, against a model that knows the
 * memory of each iod.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "client/lib/file/unsynced.h"

#define IODS 4u
#define HANDLES 6u
#define FILES 12u /* two for each handle */
#define STEPS 200000u

static struct fs fs;
static struct file file[FILES];
static struct mount mount = { .dir = "/test" };

static void open_file(struct file *f, uint64_t handle)
{
	*f = (struct file){
		.fs = &fs,
		.handle = handle,
		.dist = { .base = (uint32_t)handle,
			  .pcount = 1 + (uint32_t)handle % IODS,
			  .ssize = 65536 },
	};
	LIST_INSERT_HEAD(file_same(&fs, handle), f, same);
}

static void close_file(struct file *f)
{
	LIST_REMOVE(f, same);
}

static void setup(void)
{
	memset(&fs, 0, sizeof(fs));
	fs_init(&fs, &mount, NULL);
	atomic_store(&fs.boots.niods, IODS);
	for (uint32_t i = 0; i < IODS; i++)
		ck_assert(!iod_boots_met(&fs.boots, i, 1));
	for (unsigned int i = 0; i < FILES; i++)
		open_file(&file[i], 1 + i % HANDLES);
}

static void teardown(void)
{
	unsynced_free(&fs);
}

START_TEST(lives)
{
	unsigned int since = iod_boots_now(&fs.boots);

	ck_assert(!iod_boots_met(&fs.boots, 2, 1));
	/* the iod does not report its boot */
	ck_assert(!iod_boots_met(&fs.boots, 2, 0));
	ck_assert(iod_boots_kept(&fs.boots, 2, since));
	ck_assert(iod_boots_met(&fs.boots, 2, 7));
	ck_assert(!iod_boots_met(&fs.boots, 2, 7));
	ck_assert(!iod_boots_kept(&fs.boots, 2, since));
	ck_assert(iod_boots_kept(&fs.boots, 1, since));
	ck_assert(iod_boots_kept(&fs.boots, 2, iod_boots_now(&fs.boots)));
}
END_TEST

/* ---- the model ---- */

struct world {
	struct rnd rnd;
	uint32_t life[IODS];
	bool dirty[1 + HANDLES], lost[1 + HANDLES];
};

static bool is_on(uint64_t handle, uint32_t iod)
{
	return (iod + IODS - handle % IODS) % IODS <= handle % IODS;
}

static void lose(struct world *w)
{
	uint32_t iod = (uint32_t)rnd_in(&w->rnd, 0, IODS - 1);

	ck_assert(iod_boots_met(&fs.boots, iod, ++w->life[iod]));
	for (uint64_t h = 1; h <= HANDLES; h++)
		w->lost[h] |= w->dirty[h] && is_on(h, iod);
}

/* Sometimes a host restarts during the write. */
static void write_one(struct world *w, struct file *f)
{
	unsigned int since = unsynced_since(f, 0);

	w->dirty[f->handle] = true;
	if (!rnd_in(&w->rnd, 0, 9))
		lose(w);
	unsynced_wrote(f, since);
}

static void flush_one(struct world *w, struct file *f)
{
	unsigned int taken = unsynced_take(f);
	bool fails = !rnd_in(&w->rnd, 0, 3);

	if (fails) {
		ck_assert_int_eq(unsynced_end(f, taken, -ETIMEDOUT),
				 -ETIMEDOUT);
		return;
	}
	ck_assert_int_eq(unsynced_end(f, taken, 0),
			 w->lost[f->handle] ? -EIO : 0);
	w->lost[f->handle] = w->dirty[f->handle] = false;
	ck_assert(!unsynced_has(f));
}

static void reopen_one(struct world *w, struct file *f)
{
	(void)w;
	close_file(f);
	open_file(f, f->handle);
}

START_TEST(like_the_model)
{
	void (*const step[])(struct world *,
			     struct file *) = { write_one, write_one, flush_one,
						reopen_one };
	struct world w = { .life = { 1, 1, 1, 1 } };

	rnd_init(&w.rnd, 1);
	for (unsigned int i = 0; i < STEPS; i++) {
		if (!rnd_in(&w.rnd, 0, 19))
			lose(&w);
		step[rnd_in(&w.rnd, 0, 3)](&w,
					   &file[rnd_in(&w.rnd, 0, FILES - 1)]);
	}
}
END_TEST

START_TEST(the_first_of_too_many)
{
	struct file *f = &file[0], other;

	unsynced_wrote(f, unsynced_since(f, 0));
	for (uint64_t h = 100; h < 100 + UNSYNCED_MAX; h++) {
		open_file(&other, h);
		unsynced_wrote(&other, unsynced_since(&other, 0));
		close_file(&other);
	}
	ck_assert(!unsynced_has(f));
	ck_assert_uint_eq(unsynced_take(f), 0);
	/* it is one of the last ones then */
	unsynced_wrote(f, unsynced_since(f, 0));
	ck_assert(unsynced_has(f));
	ck_assert_uint_ne(unsynced_take(f), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unsynced");
	TCase *tc = tcase_create("unsynced");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lives);
	tcase_add_test(tc, like_the_model);
	tcase_add_test(tc, the_first_of_too_many);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
