/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * volatile.c - memory whose pages disappear while it is registered.  A transfer that needs a
 * missing page fails with its connection, and no other transfer fails.  Pages that return are used
 * again.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/contract/contract.h"

#define LEN (1u << 20)

static int file;
static uint8_t *map;
static struct tp_mr *mr;

/* Returns false, with a message, if the provider does not support it. */
static bool map_open(struct side *s, unsigned int access)
{
	int rc;

	file = memfd_create("volatile", MFD_CLOEXEC);
	ck_assert_int_ge(file, 0);
	ck_ok(ftruncate(file, LEN));
	map = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ck_assert_ptr_ne(map, MAP_FAILED);
	rc = tp_mr_reg(s->dev, map, LEN, access | TP_VOLATILE, &mr);
	if (!rc)
		return true;
	ck_assert_int_eq(rc, -EOPNOTSUPP);
	munmap(map, LEN);
	close(file);
	return false;
}

static void map_close(void)
{
	tp_mr_dereg(mr);
	munmap(map, LEN);
	close(file);
}

/* Small data is sent in messages, and large data by itself. */
static const uint32_t sizes[] = { 1, 200, 5000, LEN };
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

START_TEST(read_into)
{
	struct mem *there = mem_new(&world.b, LEN, TP_REMOTE_READ);
	struct tp_sge sge = { .len = sizes[_i] };
	struct link *l = link_open(&world, NULL), *other;
	struct tp_send_wr wr = wr_rdma(TP_READ, 1, &sge, there, 0);
	struct tp_wc wc;

	if (!map_open(&world.a, TP_LOCAL_WRITE))
		return;
	mem_fill(there, 5);
	sge.addr = map;
	sge.lkey = mr->lkey;
	ck_ok(tp_post_send(l->a, &wr));
	expect_wc(&world, &world.a, l->a, 1, TP_READ, 0);
	ck_assert_mem_eq(map, there->p, sizes[_i]);

	other = link_open(&world, NULL);
	ck_ok(ftruncate(file, 0));
	ck_ok(tp_post_send(l->a, &wr));
	wc = world_wc(&world, &world.a, l->a);
	ck_assert_int_lt(wc.status, 0);
	ck_assert_int_lt(expect_gone(&world, &world.a, l->a), 0);

	ck_ok(ftruncate(file, LEN));
	ck_ok(tp_post_send(other->a, &wr));
	expect_wc(&world, &world.a, other->a, 1, TP_READ, 0);
	ck_assert_mem_eq(map, there->p, sizes[_i]);
	map_close();
}
END_TEST

/* Only the last page is missing: the data before it does not hide the failure. */
START_TEST(read_into_less)
{
	struct mem *there = mem_new(&world.b, LEN, TP_REMOTE_READ);
	struct tp_sge sge = { .len = LEN };
	struct link *l = link_open(&world, NULL);
	struct tp_send_wr wr = wr_rdma(TP_READ, 1, &sge, there, 0);

	if (!map_open(&world.a, TP_LOCAL_WRITE))
		return;
	sge.addr = map;
	sge.lkey = mr->lkey;
	ck_ok(ftruncate(file, LEN - 4096));
	ck_ok(tp_post_send(l->a, &wr));
	ck_assert_int_lt(world_wc(&world, &world.a, l->a).status, 0);
	ck_assert_int_lt(expect_gone(&world, &world.a, l->a), 0);
	map_close();
}
END_TEST

START_TEST(write_from)
{
	struct mem *there = mem_new(&world.b, LEN, TP_REMOTE_WRITE);
	struct tp_sge sge = { .len = sizes[_i] };
	struct link *l = link_open(&world, NULL), *other;
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 1, &sge, there, 0);

	if (!map_open(&world.a, 0))
		return;
	sge.addr = map;
	sge.lkey = mr->lkey;
	other = link_open(&world, NULL);
	ck_ok(ftruncate(file, 0));
	ck_ok(tp_post_send(l->a, &wr));
	ck_assert_int_lt(expect_gone(&world, &world.a, l->a), 0);
	mem_check_zero(there);

	ck_ok(ftruncate(file, LEN));
	memset(map, 9, LEN);
	ck_ok(tp_post_send(other->a, &wr));
	expect_wc(&world, &world.a, other->a, 1, TP_WRITE, 0);
	link_works(&world, other);
	ck_assert_mem_eq(map, there->p, sizes[_i]);
	map_close();
}
END_TEST

START_TEST(not_for_peers)
{
	static const unsigned int remote[] = { TP_REMOTE_READ, TP_REMOTE_WRITE,
					       TP_REMOTE_ATOMIC };
	uint64_t word = 0;
	struct tp_mr *none;
	int i;

	for (i = 0; i < 3; i++) {
		int rc = tp_mr_reg(world.a.dev, &word, sizeof(word),
				   TP_VOLATILE | remote[i], &none);

		ck_assert(rc == -EINVAL || rc == -EOPNOTSUPP);
	}
}
END_TEST

TCase *case_volatile(void)
{
	TCase *tc = contract_case("volatile");

	tcase_add_loop_test(tc, read_into, 0, SIZES);
	tcase_add_test(tc, read_into_less);
	tcase_add_loop_test(tc, write_from, 0, SIZES);
	tcase_add_test(tc, not_for_peers);
	return tc;
}
