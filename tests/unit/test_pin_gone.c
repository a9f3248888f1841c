/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_pin_gone.c - no registration is found again after its memory was unmapped, in any way.
 * There are single cases, and random ones with a model that knows when each page was last mapped.
 */
#include <check.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/pin_rig.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define PAGES 64u
#define P 4096u
#define LEN (PAGES * P)
#define R TP_REMOTE_READ

static struct pin_rig rig;
static char *mem;

static void setup(void)
{
	pin_rig_open(&rig, &(struct pins_attr){ .mode = PINS_ON });
	mem = pin_rig_map(LEN);
}

static void teardown(void)
{
	pin_rig_close(&rig);
	munmap(mem, LEN);
}

static bool hit(size_t page, size_t n)
{
	return pin_rig_hit_calm(&rig, mem + page * P, n * P, R);
}

static void map_at(void *addr, size_t len)
{
	ck_assert_ptr_eq(mmap(addr, len, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
			 addr);
}

/* ---- single cases; each changes page 10 and leaves memory there ---- */

static void by_munmap(void)
{
	munmap(mem + 10 * P, P);
	map_at(mem + 10 * P, P);
}

static void by_munmap_of_all(void)
{
	munmap(mem, LEN);
	map_at(mem, LEN);
}

static void by_raw_munmap(void)
{
	syscall(SYS_munmap, mem + 10 * P, P);
	map_at(mem + 10 * P, P);
}

static void by_mmap_over(void)
{
	map_at(mem + 10 * P, P);
}

static void by_dontneed(void)
{
	madvise(mem + 10 * P, P, MADV_DONTNEED);
}

static void by_free(void)
{
	madvise(mem + 10 * P, P, MADV_FREE);
}

static void by_mremap_away(void)
{
	void *to = mremap(mem + 10 * P, P, 2 * P, MREMAP_MAYMOVE);

	ck_assert_ptr_ne(to, MAP_FAILED);
	munmap(to, 2 * P);
	map_at(mem + 10 * P, P);
}

static void by_mremap_dontunmap(void)
{
	void *to = mremap(mem + 10 * P, P, P, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
			  NULL);

	if (to == MAP_FAILED)
		by_munmap();
	else
		munmap(to, P);
}

static void by_mremap_onto(void)
{
	void *p = pin_rig_map(P);

	ck_assert_ptr_eq(mremap(p, P, P, MREMAP_MAYMOVE | MREMAP_FIXED,
				mem + 10 * P),
			 mem + 10 * P);
}

static void by_mremap_shrink(void)
{
	ck_assert_ptr_eq(mremap(mem, LEN, 10 * P, 0), mem);
	map_at(mem + 10 * P, LEN - 10 * P);
}

static void (*const ways[])(void) = {
	by_munmap,	by_munmap_of_all, by_raw_munmap,  by_mmap_over,
	by_dontneed,	by_free,	  by_mremap_away, by_mremap_dontunmap,
	by_mremap_onto, by_mremap_shrink,
};

START_TEST(gone)
{
	ck_assert(!hit(8, 8));
	ck_assert(!hit(20, 2));
	ck_assert(!hit(1, 9));
	ways[_i]();
	ck_assert(!hit(10, 1));
	ck_assert(!hit(8, 2) || ways[_i] != by_munmap_of_all);
	ck_assert(!hit(8, 8));
	ck_assert(hit(8, 8));
	ck_assert(hit(10, 1));
	ck_assert_uint_ge(rig.st.invalidations, 1);
	/* the memory is still watched */
	ways[_i]();
	ck_assert(!hit(8, 8));
	ck_assert(hit(8, 8));
}
END_TEST

/* The owner continues to use the registration, but it is not found again. */
START_TEST(gone_while_in_use)
{
	struct pin *pin;

	ck_assert_int_eq(pin_get(rig.pins, mem, 4 * P, R, &pin), 0);
	by_munmap_of_all();
	ck_assert(!hit(0, 4));
	ck_assert_uint_eq(mock.mrs, 2);
	pin_put(rig.pins, pin);
	ck_assert_uint_eq(mock.mrs, 1);
	ck_assert(hit(0, 4));
}
END_TEST

START_TEST(of_the_heap)
{
	size_t len = 8 << 20;
	char *p = malloc(len), *q;

	memset(p, 1, len);
	ck_assert(!pin_rig_hit_calm(&rig, p, len, R));
	ck_assert(pin_rig_hit(&rig, p, len, R));
	free(p);
	q = malloc(len);
	memset(q, 1, len);
	ck_assert(!pin_rig_hit(&rig, q, len, R));
	free(q);
}
END_TEST

START_TEST(of_a_shrinking_heap)
{
	char *p = sbrk(16 * P);

	ck_assert_ptr_ne(p, (void *)-1);
	memset(p, 1, 16 * P);
	ck_assert(!pin_rig_hit_calm(&rig, p + P, 4 * P, R));
	ck_assert(pin_rig_hit(&rig, p + P, 4 * P, R));
	if (sbrk(0) != p + 16 * P)
		return; /* another program uses it */
	ck_assert_ptr_eq(sbrk(-16 * (long)P), p + 16 * P);
	ck_assert_ptr_eq(sbrk(16 * P), p);
	memset(p, 1, 16 * P);
	ck_assert(!pin_rig_hit(&rig, p + P, 4 * P, R));
	sbrk(-16 * (long)P);
}
END_TEST

/* Pages of files and of shared memory can change without a report to this process. */
START_TEST(not_of_files_and_shared_memory)
{
	int fd = memfd_create("pin", 0);
	char *p;
	int i;

	ck_assert_int_eq(ftruncate(fd, LEN), 0);
	for (i = 0; i < 2; i++) {
		p = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			 i ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED,
			 i ? -1 : fd, 0);
		ck_assert_ptr_ne(p, MAP_FAILED);
		memset(p, 1, LEN);
		ck_assert(!pin_rig_hit(&rig, p, LEN, R));
		ck_assert(!pin_rig_hit(&rig, p, LEN, R));
		munmap(p, LEN);
	}
	ck_assert_uint_eq(rig.st.uncached, 4);
	ck_assert_uint_eq(mock.mrs, 0);
	close(fd);
}
END_TEST

/* More changes than are remembered individually. */
START_TEST(many_at_once)
{
	int i;

	ck_assert(!hit(0, PAGES / 2));
	ck_assert(!hit(PAGES - 1, 1));
	for (i = 0; i < 3000; i++) {
		madvise(mem, P, MADV_DONTNEED);
		madvise(mem + P + (size_t)i % 20 * P, P, MADV_DONTNEED);
	}
	ck_assert(!hit(0, PAGES / 2));
	hit(PAGES - 1, 1);
	ck_assert(hit(0, PAGES / 2));
}
END_TEST

/* ---- at random ---- */

#define STEPS 4000
#define KEYS (2 * STEPS)

static unsigned int born[PAGES]; /* the step of the last mapping */
static struct key {
	unsigned int step; /* 0: not seen yet */
} keys[KEYS];

static void change(struct rnd *rnd, unsigned int step)
{
	size_t at = rnd_in(rnd, 0, PAGES - 1), n = rnd_in(rnd, 1, 8), i;

	if (n > PAGES - at)
		n = PAGES - at;
	switch (rnd_in(rnd, 0, 3)) {
	case 0:
		munmap(mem + at * P, n * P);
		map_at(mem + at * P, n * P);
		break;
	case 1:
		madvise(mem + at * P, n * P, MADV_DONTNEED);
		break;
	case 2:
		map_at(mem + at * P, n * P);
		break;
	default:
		ck_assert_ptr_eq(mremap(pin_rig_map(n * P), n * P, n * P,
					MREMAP_MAYMOVE | MREMAP_FIXED,
					mem + at * P),
				 mem + at * P);
	}
	for (i = at; i < at + n; i++)
		born[i] = step;
}

/* The first caller that got this key registered all of its pages in this step. */
static void check_pin(const struct tp_mr *mr, unsigned int step)
{
	size_t first = (size_t)((char *)mr->addr - mem) / P, i;
	size_t last = (size_t)((char *)mr->addr + mr->len - 1 - mem) / P;

	ck_assert_uint_lt(mr->rkey, KEYS);
	if (!keys[mr->rkey].step)
		keys[mr->rkey].step = step;
	for (i = first; i <= last; i++)
		ck_assert_uint_le(born[i], keys[mr->rkey].step);
}

START_TEST(at_random)
{
	struct pin *pin[4] = { NULL };
	struct rnd rnd;
	unsigned int step;

	rnd_init(&rnd, 7);
	for (step = 1; step <= STEPS; step++) {
		struct pin **p = &pin[rnd_in(&rnd, 0, 3)];
		size_t off = rnd_in(&rnd, 0, LEN - 1);

		if (rnd_in(&rnd, 0, 3) == 0) {
			change(&rnd, step);
			continue;
		}
		if (*p)
			pin_put(rig.pins, *p);
		ck_assert_int_eq(pin_get(rig.pins, mem + off,
					 rnd_in(&rnd, 1, LEN - off) % (6 * P) +
						 1,
					 1u << rnd_in(&rnd, 1, 2), p),
				 0);
		check_pin(pin_mr(*p), step);
	}
	for (step = 0; step < 4; step++)
		if (pin[step])
			pin_put(rig.pins, pin[step]);
	pins_stats(rig.pins, &rig.st);
	ck_assert_uint_gt(rig.st.hits, 100);
	ck_assert_uint_gt(rig.st.invalidations, 100);
	ck_assert_uint_lt(rig.st.uncached, STEPS / 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pin_gone");
	TCase *tc = tcase_create("gone");

	if (pin_rig_skip())
		return 77;
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, gone, 0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tc, gone_while_in_use);
	tcase_add_test(tc, of_the_heap);
	tcase_add_test(tc, of_a_shrinking_heap);
	tcase_add_test(tc, not_of_files_and_shared_memory);
	tcase_add_test(tc, many_at_once);
	tcase_add_test(tc, at_random);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
