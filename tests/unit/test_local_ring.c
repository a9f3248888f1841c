/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_ring.c - the rings of the local provider, compared with a model, used by two threads,
 * and with a peer that writes any values into them.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/transport/local/local.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

static struct local_shm a, b; /* two mappings of the same memory */
static struct local_out out; /* side 0 */
static struct local_in in; /* side 1 */

static void set_up(uint32_t size)
{
	int fd;

	ck_assert_int_eq(local_shm_create(&a, size, &fd), 0);
	ck_assert_int_eq(local_shm_map(&b, fd), 0);
	ck_assert_uint_eq(b.size, size);
	close(fd);
	local_out_init(&out, &a, LOCAL_CONNECTOR);
	local_in_init(&in, &b, LOCAL_ACCEPTOR);
}

static void setup(void)
{
	set_up(LOCAL_RING);
}

static void setup_bulk(void)
{
	set_up(LOCAL_RING_BULK);
}

static void teardown(void)
{
	local_shm_unmap(&a);
	local_shm_unmap(&b);
}

/* The length and bytes of the n-th record follow from n. */
static uint32_t size_of(uint32_t n)
{
	uint32_t h = n * 2654435761u >> 7;

	return n % 5 ? h % 300 : h % (LOCAL_PIECE + 1);
}

static uint8_t byte_of(uint32_t n, uint32_t i)
{
	return (uint8_t)(n * 31 + i * 7 + (i >> 8));
}

static bool put(uint32_t n)
{
	struct local_head head = { .size = size_of(n), .op = 1, .id = n };
	int rc;
	uint8_t *p = local_out_room(&out, head.size, &rc);
	uint32_t i;

	if (!p)
		return false;
	memcpy(p, &head, sizeof(head));
	for (i = 0; i < head.size; i++)
		p[sizeof(head) + i] = byte_of(n, i);
	local_out_put(&out, head.size);
	return true;
}

/* Returns 1 if the n-th record is complete and right, and 0 if it has not arrived. */
static int take(uint32_t n)
{
	struct local_head head;
	const uint8_t *p;
	int rc = local_in_next(&in, &head, &p);
	uint32_t i;

	if (rc <= 0)
		return rc;
	if (head.id != n || head.size != size_of(n))
		return -EBADMSG;
	for (i = 0; i < head.size; i++)
		if (p[i] != byte_of(n, i))
			return -EBADMSG;
	local_in_take(&in, head.size);
	return 1;
}

/*
 * Random steps of both ends.  The model counts the records that were put, published and taken, and
 * the bytes in between.
 */
START_TEST(model)
{
	uint32_t put_n = 0, shown = 0, taken = 0, bytes = 0, free_seen = 0;
	struct rnd r;
	int step;

	rnd_init(&r, 20261 + (uint64_t)_i);
	/* also when the indices overflow */
	if (_i) {
		uint32_t start = 0u - 3 * a.size;

		out.tail = out.head = out.published = start;
		in.head = in.tail = in.published = start;
		atomic_store(&out.me->tail, start);
		atomic_store(&in.me->head, start);
	}
	for (step = 0; step < 60000; step++) {
		uint32_t need = local_record(size_of(put_n));

		switch (rnd_next(&r) % 4) {
		case 0:
		case 1:
			if (put(put_n)) {
				put_n++;
				bytes += need;
			} else {
				ck_assert_uint_gt(bytes + need + free_seen,
						  a.size);
			}
			ck_assert_uint_le(bytes, a.size);
			break;
		case 2:
			ck_assert(local_out_publish(&out) == (shown != put_n));
			shown = put_n;
			break;
		default:
			ck_assert_int_eq(take(taken), taken < shown);
			if (taken < shown) {
				free_seen += local_record(size_of(taken));
				bytes -= local_record(size_of(taken++));
			}
			if (rnd_next(&r) % 2) {
				local_in_publish(&in);
				free_seen = 0;
			}
		}
	}
	ck_assert_uint_gt(taken, 1000);
}
END_TEST

enum { MANY = 20000 };

static void *writer(void *arg)
{
	uint32_t n = 0;

	while (n < MANY) {
		if (put(n))
			n++;
		local_out_publish(&out);
		if (n % 16 == 0)
			sched_yield();
	}
	return NULL;
}

START_TEST(two_threads)
{
	pthread_t thread;
	uint32_t n = 0;
	int rc;

	ck_assert_int_eq(pthread_create(&thread, NULL, writer, NULL), 0);
	while (n < MANY) {
		rc = take(n);
		ck_assert_int_ge(rc, 0);
		n += (uint32_t)rc;
		local_in_publish(&in);
		if (!rc)
			sched_yield();
	}
	pthread_join(thread, NULL);
}
END_TEST

/* ---- wrong indices ---- */

START_TEST(tail_too_far)
{
	const uint32_t tails[] = { a.size + 64, 1u << 31, 0u - 64, 1, 31 };
	struct local_head head;
	const uint8_t *p;

	atomic_store(&in.peer->tail, tails[_i]);
	ck_assert_int_eq(local_in_next(&in, &head, &p), -EPROTO);
}
END_TEST

/* A head claims more than there is, or more than a record may have. */
START_TEST(size_too_large)
{
	static const uint32_t sizes[] = { 33, LOCAL_PIECE + 1, LOCAL_RING,
					  UINT32_MAX, UINT32_MAX - 63 };
	struct local_head head = { .size = sizes[_i], .op = 1 };
	const uint8_t *p;

	memcpy(out.data, &head, sizeof(head));
	atomic_store(&in.peer->tail, 64);
	ck_assert_int_eq(local_in_next(&in, &head, &p), -EPROTO);
}
END_TEST

/* The reader's head moves back, or beyond what was written. */
START_TEST(head_lies)
{
	uint32_t n = 0;
	int rc;

	while (put(n))
		n++;
	local_out_publish(&out);
	atomic_store(&out.peer->head, _i ? out.tail + 64 : 0u - 64);
	ck_assert_ptr_null(local_out_room(&out, LOCAL_PIECE, &rc));
	ck_assert_int_eq(rc, -EPROTO);
}
END_TEST

/* Changes of the peer to our own indices have no effect. */
START_TEST(own_indices_are_private)
{
	uint32_t n;

	for (n = 0; n < 100; n++) {
		ck_assert(put(n));
		local_out_publish(&out);
		atomic_store(&in.me->head, out.tail - 64);
		ck_assert_int_eq(take(n), 1);
		local_in_publish(&in);
	}
}
END_TEST

/* ---- wrong descriptors ---- */

START_TEST(not_ours)
{
	struct local_shm shm = { 0 };
	const struct local_entry *table;
	int fd;

	switch (_i) {
	case 0: /* memory that can shrink */
		fd = memfd_create("x", MFD_ALLOW_SEALING);
		ck_assert_int_eq(ftruncate(fd, 4 << 20), 0);
		break;
	case 1: /* memory that is too small */
		fd = local_memfd("x", 4096, 0);
		break;
	default: /* not memory */
		fd = dup(0);
		break;
	}
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(local_shm_map(&shm, fd), -EPROTO);
	ck_assert_int_eq(local_table_map(fd, &table), -EPROTO);
	ck_assert_ptr_null(shm.ctl);
	close(fd);
}
END_TEST

static TCase *with(const char *name, SFun fixture)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, fixture, teardown);
	tcase_add_loop_test(tc, model, 0, 2);
	tcase_add_test(tc, two_threads);
	tcase_add_loop_test(tc, tail_too_far, 0, 5);
	tcase_add_loop_test(tc, size_too_large, 0, 5);
	tcase_add_loop_test(tc, head_lies, 0, 2);
	tcase_add_test(tc, own_indices_are_private);
	tcase_add_loop_test(tc, not_ours, 0, 3);
	return tc;
}

int main(void)
{
	Suite *s = suite_create("local_ring");

	suite_add_tcase(s, with("ring", setup));
	suite_add_tcase(s, with("bulk", setup_bulk));
	return run_suite(s);
}
