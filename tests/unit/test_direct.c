/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_direct.c - the engine "direct" on a disk, with libaio and with threads: random pieces
 * compared with an array.  Whole blocks bypass the page cache.
 */
#include <check.h>
#include <errno.h>
#include <ftw.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "common/util/clock.h"
#include "server/store/store_engine.h"

#define FILE_MAX (2u << 20)
#define BUF_MAX (512u << 10)
#define SEGS 5u
#define LEN_MAX (BUF_MAX / SEGS - 2 * STORE_BLOCK)

static char dir[64];
static struct object_store *store;
static struct disk_pool *pool;
static struct aio *aio; /* NULL: threads do it */
static struct store_obj *obj;
static unsigned char model[FILE_MAX], *buf;
static uint64_t size;
static sem_t over;
static int outcome;

static int rm_one(const char *path, const struct stat *sb, int type,
		  struct FTW *ftw)
{
	return remove(path);
}

static int open_store(void)
{
	struct object_store_attr attr = { .dir = dir, .fsid = 7 };

	strcpy(dir, "/var/tmp/pvfs-direct-XXXXXX");
	return mkdtemp(dir) ? store_open(&attr, &store) : -errno;
}

static void close_store(void)
{
	store_close(store);
	nftw(dir, rm_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void setup(void)
{
	ck_assert_int_eq(open_store(), 0);
	ck_assert_int_eq(disk_pool_open(2, &pool), 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(1), true, &obj),
			 0);
	buf = aligned_alloc(STORE_BLOCK, BUF_MAX + STORE_BLOCK);
	ck_assert_ptr_nonnull(buf);
	sem_init(&over, 0, 0);
	memset(model, 0, sizeof(model));
	size = 0;
}

static void setup_aio(void)
{
	setup();
	ck_assert_int_eq(aio_open(&aio), 0);
}

static void teardown(void)
{
	aio_close(aio);
	aio = NULL;
	store_obj_put(obj);
	disk_pool_close(pool);
	close_store();
	free(buf);
	sem_destroy(&over);
}

static void done(struct store_io *io, int status)
{
	outcome = status;
	sem_post(&over);
}

static int run(struct store_io *io, bool write)
{
	const struct store_engine *e = &store_engine_direct;
	int rc;

	io->obj = obj;
	io->pool = pool;
	io->aio = aio;
	io->done = done;
	io->expiry = CLOCK_NEVER;
	rc = write ? e->write(io) : e->read(io);
	if (rc != -EINPROGRESS)
		return rc;
	while (sem_wait(&over))
		;
	return outcome;
}

static int move(uint64_t off, size_t len, bool write)
{
	struct store_seg seg = { off, len };
	struct store_io io = { .seg = &seg, .buf = buf, .len = len };

	return run(&io, write);
}

/* Returns the number of the object's pages in the page cache. */
static unsigned int resident(void)
{
	unsigned char page[FILE_MAX / STORE_BLOCK];
	void *map = store_obj_map(obj, 0, FILE_MAX);
	unsigned int i, n = 0;

	ck_assert_ptr_nonnull(map);
	ck_assert_int_eq(mincore(map, FILE_MAX, page), 0);
	for (i = 0; i < sizeof(page); i++)
		n += page[i] & 1;
	munmap(map, FILE_MAX);
	return n;
}

START_TEST(past_the_page_cache)
{
	struct store_stat st;

	memset(buf, 'x', BUF_MAX);
	ck_assert_int_eq(store_obj_resize(obj, FILE_MAX), 0);
	ck_assert_int_eq(move(0, BUF_MAX, true), 0);
	ck_assert_uint_eq(resident(), 0);
	/* only both ends use the page cache */
	ck_assert_int_eq(move(1u << 20, BUF_MAX - 100, true), 0);
	ck_assert_uint_le(resident(), 1);
	memset(buf, 0, BUF_MAX);
	ck_assert_int_eq(move(0, BUF_MAX, false), 0);
	ck_assert_uint_le(resident(), 1);
	for (unsigned int i = 0; i < BUF_MAX; i++)
		if (buf[i] != 'x')
			ck_abort_msg("byte %u", i);
	ck_assert_int_eq(store_obj_stat(obj, &st), 0);
	ck_assert_uint_eq(st.size, FILE_MAX);
}
END_TEST

static uint64_t below(struct rnd *rnd, uint64_t n)
{
	return rnd_in(rnd, 0, n - 1);
}

struct round {
	struct store_seg seg[SEGS];
	size_t skip, len;
	unsigned char *at;
};

/* Contiguous pieces with aligned and unaligned lengths, also aligned or not in the buffer. */
static void roll(struct rnd *rnd, struct round *r)
{
	uint64_t off = below(rnd, FILE_MAX / 4);
	unsigned int i, n = 1 + (unsigned int)below(rnd, SEGS);
	size_t sum = 0;

	for (i = 0; i < n; i++) {
		uint64_t len = 1 + below(rnd, LEN_MAX);

		if (below(rnd, 3)) {
			off = off / STORE_BLOCK * STORE_BLOCK;
			off += i ? STORE_BLOCK : 0;
			len = (len / STORE_BLOCK + 1) * STORE_BLOCK;
		}
		r->seg[i] = (struct store_seg){ off, len };
		off += len + below(rnd, 5000);
		sum += len;
	}
	r->skip = below(rnd, 2) ? below(rnd, r->seg[0].len) : 0;
	r->len = sum - r->skip - below(rnd, r->seg[n - 1].len);
	r->len = r->len > sum - r->skip || !r->len ? sum - r->skip : r->len;
	r->at = buf + (below(rnd, 4) ? 0 : below(rnd, STORE_BLOCK));
}

static void check_round(const struct round *r, bool write)
{
	const struct store_seg *seg = r->seg;
	uint64_t off = seg->off + r->skip;

	for (size_t i = 0; i < r->len; i++, off++) {
		if (off == seg->off + seg->len)
			off = (++seg)->off;
		if (write)
			model[off] = r->at[i];
		else if (r->at[i] != model[off])
			ck_abort_msg("byte %zu, at %llu", i,
				     (unsigned long long)off);
		if (write && off >= size)
			size = off + 1;
	}
}

static void one_round(struct rnd *rnd)
{
	bool write = below(rnd, 2);
	struct round r;
	struct store_io io;

	roll(rnd, &r);
	for (size_t i = 0; i < r.len; i += 1 + below(rnd, 200))
		r.at[i] = (unsigned char)below(rnd, 256);
	io = (struct store_io){
		.seg = r.seg, .skip = r.skip, .buf = r.at, .len = r.len
	};
	ck_assert_int_eq(run(&io, write), 0);
	check_round(&r, write);
}

START_TEST(as_an_array_says)
{
	struct store_stat st;
	struct rnd rnd;

	rnd_init(&rnd, (uint64_t)_i + 1);
	memset(buf, 0, BUF_MAX + STORE_BLOCK);
	for (int i = 0; i < 100; i++) {
		one_round(&rnd);
		ck_assert_int_eq(store_obj_stat(obj, &st), 0);
		ck_assert_uint_eq(st.size, size);
	}
}
END_TEST

/* A late request is executed neither by libaio nor by a thread. */
START_TEST(late)
{
	struct store_seg seg = { 0, 2 * 65536u };
	struct store_io io = { .obj = obj,
			       .pool = pool,
			       .aio = aio,
			       .seg = &seg,
			       .buf = buf,
			       .len = 2 * 65536u,
			       .expiry = clock_boot(),
			       .done = done };

	ck_assert_int_eq(store_obj_resize(obj, FILE_MAX), 0);
	memset(buf, 'x', io.len);
	ck_assert_int_eq(store_engine_direct.write(&io), -EINPROGRESS);
	while (sem_wait(&over))
		;
	ck_assert_int_eq(outcome, -ETIMEDOUT);
	ck_assert_int_eq(move(0, io.len, false), 0);
	for (size_t i = 0; i < io.len; i++)
		ck_assert_int_eq(buf[i], 0);
}
END_TEST

/* As many concurrent requests as there are chunks: none is lost or confused. */
#define MANY 32u
#define EACH (FILE_MAX / MANY)

static void start_many(struct store_io *io, struct store_seg *seg,
		       unsigned char *all, bool write)
{
	for (unsigned int i = 0; i < MANY; i++) {
		int rc;

		seg[i] = (struct store_seg){ i * EACH, EACH };
		io[i] = (struct store_io){ .obj = obj,
					   .pool = pool,
					   .aio = aio,
					   .seg = &seg[i],
					   .buf = all + i * EACH,
					   .len = EACH,
					   .expiry = CLOCK_NEVER,
					   .done = done };
		rc = write ? store_engine_direct.write(&io[i])
			   : store_engine_direct.read(&io[i]);
		ck_assert_int_eq(rc, -EINPROGRESS);
	}
	for (unsigned int i = 0; i < MANY; i++) {
		while (sem_wait(&over))
			;
		ck_assert_int_eq(outcome, 0);
	}
}

START_TEST(many_at_once)
{
	unsigned char *all = aligned_alloc(STORE_BLOCK, FILE_MAX);
	struct store_seg seg[MANY];
	struct store_io io[MANY];

	for (unsigned int k = 1; k <= 4; k++) {
		for (unsigned int i = 0; i < MANY; i++)
			memset(all + i * EACH, (int)(i + 50 * k), EACH);
		start_many(io, seg, all, true);
		memset(all, 0, FILE_MAX);
		start_many(io, seg, all, false);
		for (unsigned int i = 0; i < FILE_MAX; i++)
			if (all[i] != (unsigned char)(i / EACH + 50 * k))
				ck_abort_msg("byte %u", i);
	}
	free(all);
}
END_TEST

/* Of overlapping pieces the later one wins, whatever executes them. */
START_TEST(overlap_in_order)
{
	struct store_seg seg[] = { { 0, 65536 }, { 4096, 65536 } };
	struct store_io io = { .seg = seg, .buf = buf, .len = 131072 };

	ck_assert_int_eq(store_obj_resize(obj, FILE_MAX), 0);
	memset(buf, 'x', 131072);
	ck_assert_int_eq(move(0, 131072, true), 0);
	for (unsigned int k = 0; k < 50; k++) {
		memset(buf, 'a', 65536);
		memset(buf + 65536, 'b', 65536);
		ck_assert_int_eq(run(&io, true), 0);
		ck_assert_int_eq(move(0, 69632, false), 0);
		ck_assert_int_eq(buf[4095], 'a');
		for (unsigned int i = 4096; i < 69632; i++)
			if (buf[i] != 'b')
				ck_abort_msg("byte %u", i);
	}
}
END_TEST

static void add_case(Suite *s, const char *name, void (*up)(void))
{
	TCase *tc = tcase_create(name);

	tcase_add_checked_fixture(tc, up, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, past_the_page_cache);
	tcase_add_loop_test(tc, as_an_array_says, 0, 3);
	tcase_add_test(tc, late);
	tcase_add_test(tc, many_at_once);
	tcase_add_test(tc, overlap_in_order);
	suite_add_tcase(s, tc);
}

int main(void)
{
	Suite *s = suite_create("direct");
	bool can;

	if (open_store()) {
		fprintf(stderr, "no store in %s\n", dir);
		return EXIT_FAILURE;
	}
	can = store_can_direct(store);
	close_store();
	if (!can) {
		fprintf(stderr, "SKIPPED: /var/tmp has no O_DIRECT\n");
		return 77;
	}
	add_case(s, "threads", setup);
	add_case(s, "libaio", setup_aio);
	return run_suite(s);
}
