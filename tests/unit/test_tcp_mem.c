/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tcp_mem.c - memory of the tcp provider: keys and their ranges, uses during deregistration,
 * and positions in lists of pieces.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "common/transport/tcp/tcp.h"

static struct tp_dev *dev;
static struct tcp_dev *tdev;

static void setup(void)
{
	ck_assert_int_eq(tp_dev_open("tcp", NULL, &dev), 0);
	tdev = container_of(dev, struct tcp_dev, dev);
}

static void teardown(void)
{
	tp_dev_close(dev);
}

static struct tp_mr *reg(void *addr, size_t len, unsigned int access)
{
	struct tp_mr *mr;

	ck_assert_int_eq(tp_mr_reg(dev, addr, len, access, &mr), 0);
	return mr;
}

START_TEST(covers)
{
	static char buf[100];
	struct tp_mr *mr = reg(buf, 100, TP_REMOTE_READ);
	uint64_t a = (uintptr_t)buf;
	uint32_t key = mr->rkey;

	ck_assert(tcp_mr_covers(tdev, key, a, 100, TP_REMOTE_READ));
	ck_assert(tcp_mr_covers(tdev, key, a + 99, 1, 0));
	ck_assert(!tcp_mr_covers(tdev, key, a + 99, 2, 0));
	ck_assert(!tcp_mr_covers(tdev, key, a + 100, 1, 0));
	ck_assert(!tcp_mr_covers(tdev, key, a - 1, 1, 0));
	ck_assert(!tcp_mr_covers(tdev, key, a, 101, 0));
	ck_assert(!tcp_mr_covers(tdev, key, a, UINT64_MAX, 0));
	ck_assert(!tcp_mr_covers(tdev, key, UINT64_MAX, 2, 0));
	ck_assert(!tcp_mr_covers(tdev, key, a, 1, TP_REMOTE_WRITE));
	ck_assert(!tcp_mr_covers(tdev, key, a, 1,
				 TP_REMOTE_READ | TP_LOCAL_WRITE));
	ck_assert(!tcp_mr_covers(tdev, 0, a, 1, 0));
	ck_assert(!tcp_mr_covers(tdev, key ^ 0x10000, a, 1, 0));
	ck_assert(!tcp_mr_covers(tdev, key | 0xffff, a, 1, 0));
	ck_assert(tcp_mr_covers(tdev, 0, 0, 0, TP_REMOTE_WRITE));
	tp_mr_dereg(mr);
	ck_assert(!tcp_mr_covers(tdev, key, a, 1, 0));
}
END_TEST

START_TEST(implied_rights)
{
	static char buf[8];
	struct tp_mr *w = reg(buf, 8, TP_REMOTE_WRITE);
	struct tp_mr *a = reg(buf, 8, TP_REMOTE_ATOMIC);
	uint64_t p = (uintptr_t)buf;

	ck_assert(tcp_mr_covers(tdev, w->lkey, p, 8, TP_LOCAL_WRITE));
	ck_assert(tcp_mr_covers(tdev, a->lkey, p, 8, TP_LOCAL_WRITE));
	tp_mr_dereg(w);
	tp_mr_dereg(a);
}
END_TEST

/* A key is not reused while others are unused. */
START_TEST(keys_are_not_reused_soon)
{
	static char buf[8];
	struct tp_mr *mr = reg(buf, 8, 0);
	uint32_t old = mr->rkey;
	int i;

	for (i = 0; i < 100000; i++) {
		tp_mr_dereg(mr);
		mr = reg(buf, 8, 0);
		ck_assert(mr->rkey != old && mr->rkey != 0);
	}
	tp_mr_dereg(mr);
}
END_TEST

START_TEST(table_has_an_end)
{
	static struct tp_mr *all[TCP_MR_MAX];
	static char buf[8];
	struct tp_mr *mr;
	size_t i;

	for (i = 0; i < TCP_MR_MAX; i++)
		all[i] = reg(buf, 8, 0);
	ck_assert_int_eq(tp_mr_reg(dev, buf, 8, 0, &mr), -ENOMEM);
	tp_mr_dereg(all[7]);
	all[7] = reg(buf, 8, 0);
	for (i = 0; i < TCP_MR_MAX; i++)
		tp_mr_dereg(all[i]);
}
END_TEST

START_TEST(hold)
{
	static char buf[64];
	struct tp_mr *a = reg(buf, 32, 0), *b = reg(buf + 32, 32, 0);
	struct tp_sge sge[] = { { buf, 8, a->lkey },
				{ buf + 8, 8, a->lkey },
				{ buf + 32, 8, b->lkey },
				{ buf + 16, 8, a->lkey } };
	struct tcp_mr *held[4];
	uint32_t key = b->lkey;

	ck_assert_int_eq(tcp_mr_hold(tdev, sge, 4, held), 3);
	tcp_mr_release(held, 3);
	tp_mr_dereg(b);
	ck_assert_int_eq(tcp_mr_hold(tdev, sge, 4, held), -EACCES);
	ck_assert_int_eq(tcp_mr_hold(tdev, sge, 2, held), 1);
	tcp_mr_release(held, 1);
	ck_assert_uint_ne(key, 0);
	/* would hang if the failed hold still counted as a use */
	tp_mr_dereg(a);
}
END_TEST

#define LANDING 65536u

/* Memory that one thread deregisters while another one writes data to it. */
struct lander {
	_Atomic uint32_t key;
	_Atomic bool stop;
	char *buf;
	unsigned long landed, refused;
};

static void *land(void *arg)
{
	struct lander *l = arg;
	struct tcp_mr *held[1];

	while (!atomic_load(&l->stop)) {
		struct tp_sge sge = { l->buf, LANDING, atomic_load(&l->key) };
		int n = tcp_mr_hold(tdev, &sge, 1, held);

		if (n < 0) {
			l->refused++;
			continue;
		}
		memset(l->buf, 1, LANDING);
		tcp_mr_release(held, n);
		l->landed++;
	}
	return NULL;
}

START_TEST(dereg_waits)
{
	static char buf[LANDING], zeros[LANDING];
	struct lander l = { .buf = buf };
	struct tp_mr *mr = reg(buf, LANDING, TP_LOCAL_WRITE);
	pthread_t thread;
	int i;

	atomic_store(&l.key, mr->lkey);
	pthread_create(&thread, NULL, land, &l);
	for (i = 0; i < 2000; i++) {
		tp_mr_dereg(mr);
		/* the memory is ours again: a late write of land() is a race, and is detected */
		memset(buf, 0, LANDING);
		sched_yield();
		ck_assert_msg(!memcmp(buf, zeros, LANDING), "round %d", i);
		mr = reg(buf, LANDING, TP_LOCAL_WRITE);
		atomic_store(&l.key, mr->lkey);
		if (i % 4 == 0)
			usleep(20);
	}
	atomic_store(&l.stop, true);
	pthread_join(thread, NULL);
	tp_mr_dereg(mr);
	printf("landed %lu, refused %lu\n", l.landed, l.refused);
}
END_TEST

#define PIECES 40
#define BYTES 4096

/* Walks a list in random steps, and compares with the contiguous bytes. */
START_TEST(cursor_walks_all_bytes)
{
	static uint8_t mem[BYTES], flat[BYTES];
	struct tp_sge sge[PIECES];
	struct iovec iov[PIECES];
	struct tp_cursor c;
	struct rnd r;
	size_t at = 0, total;
	unsigned int n;

	rnd_init(&r, 7 + (uint64_t)_i);
	for (n = 0, total = 0; n < PIECES; n++) {
		uint32_t len = (uint32_t)rnd_in(&r, 1, 100);

		sge[n] = (struct tp_sge){ mem + total, len, n };
		total += len;
	}
	for (n = 0; n < total; n++)
		mem[n] = flat[n] = (uint8_t)rnd_next(&r);
	tp_cursor_set(&c, sge, PIECES, total);
	while (c.left) {
		uint64_t bytes = rnd_in(&r, 1, 300), limit = bytes, sum = 0;
		unsigned int max = (unsigned int)rnd_in(&r, 1, 5), i;
		uint64_t step;

		n = tp_cursor_iov(&c, iov, max, &bytes);
		ck_assert(n >= 1 && n <= max && bytes <= limit);
		for (i = 0; i < n; i++) {
			ck_assert_mem_eq(iov[i].iov_base, flat + at + sum,
					 iov[i].iov_len);
			sum += iov[i].iov_len;
		}
		ck_assert_uint_eq(sum, bytes);
		step = rnd_in(&r, 0, bytes);
		tp_cursor_move(&c, step);
		at += step;
	}
	ck_assert_uint_eq(at, total);
}
END_TEST

START_TEST(pieces_join)
{
	static char mem[64];
	struct tp_sge list[4] = { 0 };
	unsigned int n = 0;
	void *end;

	n = tp_sge_add(list, n, &(struct tp_sge){ mem, 8, 1 });
	n = tp_sge_add(list, n, &(struct tp_sge){ mem + 8, 8, 1 });
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(list[0].len, 16);
	n = tp_sge_add(list, n, &(struct tp_sge){ mem + 16, 8, 2 });
	ck_assert_uint_eq(n, 2);
	n = tp_sge_add(list, n, &(struct tp_sge){ mem + 32, 8, 2 });
	ck_assert_uint_eq(n, 3);
	list[2].len = UINT32_MAX - 7;
	end = (void *)((uintptr_t)mem + 32 + list[2].len);
	n = tp_sge_add(list, n, &(struct tp_sge){ end, 8, 2 });
	ck_assert_uint_eq(n, 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp_mem");
	TCase *tc = tcase_create("mem");

	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, covers);
	tcase_add_test(tc, implied_rights);
	tcase_add_test(tc, keys_are_not_reused_soon);
	tcase_add_test(tc, table_has_an_end);
	tcase_add_test(tc, hold);
	tcase_add_test(tc, dereg_waits);
	tcase_add_loop_test(tc, cursor_walks_all_bytes, 0, 20);
	tcase_add_test(tc, pieces_join);
	return run_suite(s);
}
