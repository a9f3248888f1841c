/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_pieces.c - a store in memory. Many small pieces are received directly into mappings of the
 * object, and all other bytes stay unchanged.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/iod/memory_rig.h"

#define N WIRE_REGION_MAX

struct fine {
	struct wire_region reg[N];
	struct iodc_mem mem;
	struct iodc_io io;
	uint64_t first, len, stride;
};

static struct iodc_io *fine(struct fine *f)
{
	for (unsigned int i = 0; i < N; i++)
		f->reg[i] = (struct wire_region){
			htole64(f->first + i * f->stride), htole64(f->len)
		};
	f->mem = (struct iodc_mem){ 0, (uint32_t)(N * f->len) };
	f->io = (struct iodc_io){ .handle = 1,
				  .reg = f->reg,
				  .nreg = N,
				  .mem = &f->mem,
				  .nmem = 1,
				  .total = N * f->len };
	return &f->io;
}

static uint8_t *contents(uint32_t len)
{
	uint8_t *is = malloc(len);
	int fd = open(object, O_RDONLY);

	must(fd >= 0 && pread(fd, is, len, 0) == len);
	close(fd);
	return is;
}

/* Checks that the pieces of f have the bytes of the arena, and that all others are as `before`. */
static void only_these(const struct fine *f, uint8_t *before)
{
	uint8_t *is = contents(LEN);

	for (unsigned int i = 0; i < N; i++)
		memcpy(before + f->first + i * f->stride,
		       client.arena + i * f->len, f->len);
	must(!memcmp(is, before, LEN));
	free(is);
	free(before);
}

START_TEST(written_in_place)
{
	const unsigned int n = 4;
	struct fine f[] = { { .first = 3, .len = 128, .stride = 1024 },
			    { .first = 4095, .len = 2, .stride = 4096 },
			    { .first = 5 << 20, .len = 99, .stride = 100 },
			    { .first = 5000, .len = 1700, .stride = 70001 } };
	uint8_t *before;

	make(LEN, 1);
	for (unsigned int i = 0; i < n; i++) {
		before = contents(LEN);
		fill(N * 1700, 2 + i);
		ck_assert_int_eq(iodc_write(&client, fine(&f[i])), 0);
		only_these(&f[i], before);
	}
	ck_assert_int_eq(mapped(), 2);
}
END_TEST

START_TEST(read_from_there)
{
	struct fine f = { .first = 3, .len = 128, .stride = 1024 };
	uint8_t *is;

	make(LEN, 1);
	is = contents(LEN);
	ck_assert_int_eq(iodc_read(&client, fine(&f)), 0);
	ck_assert_uint_eq(f.io.done, N * 128);
	ck_assert_int_eq(mapped(), 1);
	for (unsigned int i = 0; i < N; i++)
		must(!memcmp(client.arena + i * 128, is + 3 + i * 1024, 128));
	free(is);
}
END_TEST

/* The bytes between the old end and the written bytes are zeros. */
START_TEST(zeros_behind_the_end)
{
	struct fine f = { .first = LEN - 100, .len = 128, .stride = 1024 };
	struct wire_region first;

	make(LEN, 1);
	fine(&f);
	first = f.reg[0];
	f.reg[0] = f.reg[N - 1];
	f.reg[N - 1] = first;
	memset(client.arena, 'x', N * 128);
	ck_assert_int_eq(iodc_read(&client, &f.io), 0);
	ck_assert_uint_eq(f.io.done, (N - 1) * 128 + 100);
	for (unsigned int i = 0; i < (N - 1) * 128; i++)
		must(!client.arena[i]);
	must(client.arena[(N - 1) * 128] || client.arena[(N - 1) * 128 + 1]);
}
END_TEST

/* Small pieces of an object with holes allocate only their own pages. */
START_TEST(holes_stay)
{
	struct fine f = { .first = 0, .len = 128, .stride = 65536 };
	struct stat st;

	make(128, 1);
	ck_assert_int_eq(iodc_resize(&mgr, 1, LEN), 0);
	fill(N * 128, 2);
	ck_assert_int_eq(iodc_write(&client, fine(&f)), 0);
	ck_assert_int_eq(iodc_write(&client, &f.io), 0);
	ck_assert_int_eq(mapped(), 0);
	ck_assert_int_eq(stat(object, &st), 0);
	ck_assert_int_eq(st.st_blocks, N * 8);
}
END_TEST

/* Two clients write interleaved bytes. */
static void *neighbour(void *arg)
{
	struct fine f = { .first = 128, .len = 128, .stride = 256 };
	struct iodc c;

	iodc_open(&c, &addr, WIRE_ROLE_CLIENT, 0);
	fine(&f);
	for (int i = 1; i <= 300; i++) {
		memset(c.arena, i, N * 128);
		must(!iodc_write(&c, &f.io));
	}
	iodc_close(&c);
	return NULL;
}

START_TEST(neighbours_lose_nothing)
{
	struct fine f = { .first = 0, .len = 128, .stride = 256 };
	pthread_t thread;
	uint8_t *is;

	make(LEN, 1);
	pthread_create(&thread, NULL, neighbour, NULL);
	fine(&f);
	for (int i = 1; i <= 300; i++) {
		memset(client.arena, ~i, N * 128);
		ck_assert_int_eq(iodc_write(&client, &f.io), 0);
		is = contents(N * 256);
		for (unsigned int k = 0; k < N * 256; k++)
			must(k % 256 >= 128 || is[k] == (uint8_t)~i);
		free(is);
	}
	pthread_join(thread, NULL);
	is = contents(N * 256);
	for (unsigned int k = 0; k < N * 256; k++)
		must(is[k] == (uint8_t)(k % 256 < 128 ? ~300 : 300));
	free(is);
}
END_TEST

static void *truncate_often(void *arg)
{
	atomic_bool *stop = arg;

	while (!atomic_load(stop)) {
		must(!iodc_resize(&mgr, 1, 4096));
		must(!iodc_resize(&mgr, 1, LEN));
		usleep(2000);
	}
	return NULL;
}

/*
 * Truncations remove pages during writes. There is no signal and no error, and the data is there at
 * the end.
 */
START_TEST(truncated_often)
{
	struct fine f = { .first = 5000, .len = 1700, .stride = 70001 };
	atomic_bool stop = false;
	pthread_t thread;
	uint8_t *is;
	int rc = 0;

	make(LEN, 1);
	pthread_create(&thread, NULL, truncate_often, &stop);
	for (unsigned int i = 0; i < 500 && !rc; i++) {
		fill(i % 8 ? N * 1700 : LEN, i);
		if (i % 8 == 0)
			rc = iodc_pwrite(&client, 1, 0, LEN);
		else
			rc = i % 2 ? iodc_write(&client, fine(&f))
				   : iodc_read(&client, fine(&f));
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	ck_assert_int_eq(rc, 0);
	put(0, LEN, 1);
	is = contents(LEN);
	fill(N * 1700, 2);
	ck_assert_int_eq(iodc_write(&client, fine(&f)), 0);
	only_these(&f, is);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_pieces");
	TCase *tc = tcase_create("small pieces");

	tcase_add_checked_fixture(tc, memory_setup, memory_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, written_in_place);
	tcase_add_test(tc, read_from_there);
	tcase_add_test(tc, zeros_behind_the_end);
	tcase_add_test(tc, holes_stay);
	tcase_add_test(tc, neighbours_lose_nothing);
	tcase_add_test(tc, truncated_often);
	suite_add_tcase(s, tc);
	return memory_main(s);
}
