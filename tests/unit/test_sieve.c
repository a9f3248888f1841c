/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sieve.c - small pieces through the sieve, compared with an array.  Every write(2) of the
 * store is checked: none touches a byte of a hole.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "server/store/sieve.h"

#define OBJ (256u << 10)
#define PIECES 1500u

/* Like ck_assert(), which writes each success to a file. */
#define MUST(cond)                                                             \
	do {                                                                   \
		if (!(cond))                                                   \
			ck_abort_msg("%s", #cond);                             \
	} while (0)

static char dir[64];
static struct object_store *store;
static struct store_obj *obj;
static uint8_t model[OBJ], may_write[OBJ], buf[OBJ * 4], want[OBJ * 4];
static struct store_seg seg[PIECES];
static struct store_io io;
static unsigned int reads, writes;

ssize_t pread(int fd, void *to, size_t n, off_t off)
{
	reads++;
	return syscall(SYS_pread64, fd, to, n, off);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t off)
{
	for (size_t i = 0; obj && i < n; i++)
		MUST(may_write[(size_t)off + i]);
	writes++;
	return syscall(SYS_pwrite64, fd, from, n, off);
}

static void setup(void)
{
	struct object_store_attr attr = { .dir = dir, .fsid = 1 };

	obj = NULL; /* ignores the store's own files */
	strcpy(dir, "/tmp/pvfs-test-sieve-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(store_open(&attr, &store), 0);
	ck_assert_int_eq(store_obj_get(store, object_key_own(1), true, &obj),
			 0);
	memset(model, 0, sizeof(model));
	reads = 0;
	writes = 0;
	io = (struct store_io){ .obj = obj, .seg = seg, .buf = buf };
}

static void teardown(void)
{
	char cmd[96];

	store_obj_put(obj);
	store_close(store);
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	ck_assert_int_eq(system(cmd), 0);
}

/* Chooses pieces in any order, overlapping or not.  Returns the sum of their bytes. */
static size_t random_pieces(struct rnd *r, unsigned int *n)
{
	uint64_t gap = rnd_in(r, 0, 3), len = rnd_in(r, 1, 400);
	size_t sum = 0;
	uint64_t off = 0;

	*n = (unsigned int)rnd_in(r, 2, rnd_in(r, 2, PIECES));
	for (unsigned int i = 0; i < *n; i++) {
		seg[i].len = rnd_in(r, 1, len);
		if (rnd_in(r, 0, 50) == 0)
			seg[i].len = rnd_in(r, 1, 80000);
		if (gap == 3 || off + seg[i].len > OBJ)
			off = rnd_in(r, 0, OBJ - seg[i].len);
		if (sum + seg[i].len > sizeof(buf)) {
			*n = i;
			break;
		}
		seg[i].off = off;
		off += seg[i].len + gap * rnd_in(r, 0, 1500);
		sum += seg[i].len;
	}
	return sum;
}

/* Compares the buffer with the model, piece by piece from skip on. */
static void copy(bool write, unsigned int n, uint64_t skip, size_t len)
{
	size_t pos = 0;

	for (unsigned int i = 0; i < n && len; i++, skip = 0) {
		uint64_t m = seg[i].len - skip < len ? seg[i].len - skip : len;
		uint64_t off = seg[i].off + skip;

		if (write) {
			memcpy(model + off, buf + pos, m);
			memset(may_write + off, 1, m);
		} else {
			memcpy(want + pos, model + off, m);
		}
		pos += m;
		len -= m;
	}
}

static void write_some(struct rnd *r, unsigned int n)
{
	for (size_t i = 0; i < io.len; i++)
		buf[i] = (uint8_t)rnd_next(r);
	memset(may_write, 0, sizeof(may_write));
	copy(true, n, io.skip, io.len);
	MUST(sieve_write(&io) == 0);
}

static void read_some(unsigned int n)
{
	struct store_io in = io;

	memset(buf, 0x5a, io.len + 1);
	copy(false, n, io.skip, io.len);
	in.pos = 0;
	MUST(sieve_read(&in, store_obj_read) == 0);
	MUST(in.pos == io.len);
	MUST(!memcmp(buf, want, io.len));
	MUST(buf[io.len] == 0x5a);
}

static void whole_is_the_model(void)
{
	size_t got;

	ck_assert_int_eq(store_obj_read(obj, buf, OBJ, 0, &got), 0);
	ck_assert(!memcmp(buf, model, got));
}

START_TEST(random_pieces_match_the_model)
{
	struct rnd r;
	unsigned int n;

	rnd_init(&r, 7);
	for (int i = 0; i < 400; i++) {
		size_t sum = random_pieces(&r, &n);

		io.skip = rnd_in(&r, 0, seg[0].len - 1);
		io.len = rnd_in(&r, 1, sum - io.skip);
		if (io.len > sizeof(buf) - 1)
			io.len = sizeof(buf) - 1;
		if (rnd_in(&r, 0, 1))
			write_some(&r, n);
		else
			read_some(n);
	}
	whole_is_the_model();
}
END_TEST

/* 256 pieces of 128 bytes, one KiB apart, in the worst order. */
static void regular(uint64_t stride)
{
	for (unsigned int i = 0; i < 256; i++)
		seg[i] = (struct store_seg){ (255 - i) * stride, 128 };
	io.skip = 0;
	io.pos = 0;
	io.len = 256 * 128;
	memset(may_write, 1, sizeof(may_write));
}

START_TEST(small_holes_take_few_calls)
{
	regular(1024);
	ck_assert(sieve_pays(&io, io.len));
	ck_assert_int_eq(sieve_write(&io), 0);
	ck_assert_uint_eq(writes, 256);
	reads = 0;
	ck_assert_int_eq(sieve_read(&io, store_obj_read), 0);
	ck_assert_uint_le(reads, 2 * 256 * 1024 / SIEVE_EXTENT);
	writes = 0;
	regular(128);
	ck_assert_int_eq(sieve_write(&io), 0);
	ck_assert_uint_eq(writes, 1);
}
END_TEST

START_TEST(one_piece_needs_no_sieve)
{
	seg[0] = (struct store_seg){ 0, 100 };
	seg[1] = (struct store_seg){ 200, 100 };
	io.skip = 0;
	io.len = 200;
	ck_assert(!sieve_pays(&io, 100));
	ck_assert(sieve_pays(&io, 101));
	seg[0].len = seg[1].len = 1 << 20;
	ck_assert(!sieve_pays(&io, 2 << 20));
}
END_TEST

static int fails(struct store_obj *o, void *to, size_t n, uint64_t off,
		 size_t *done)
{
	*done = 0;
	return -EIO;
}

/* A failed batch is executed again from its beginning. */
START_TEST(failed_batch_leaves_the_place)
{
	regular(1024);
	ck_assert_int_eq(sieve_read(&io, fails), -EIO);
	ck_assert_uint_eq(io.pos, 0);
	ck_assert_ptr_eq(io.seg, seg);
	ck_assert_int_eq(sieve_read(&io, store_obj_read), 0);
	ck_assert_uint_eq(io.pos, io.len);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sieve");
	TCase *tc = tcase_create("sieve");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, random_pieces_match_the_model);
	tcase_add_test(tc, small_holes_take_few_calls);
	tcase_add_test(tc, one_piece_needs_no_sieve);
	tcase_add_test(tc, failed_batch_leaves_the_place);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
