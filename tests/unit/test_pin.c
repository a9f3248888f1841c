/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_pin.c - which registrations are kept, found and dropped.  test_pin_gone.c tests memory that
 * is unmapped.
 */
#include <check.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "tests/unit/mock_tp.h"
#include "tests/unit/pin_rig.h"
#include "tests/run_suite.h"

static struct pin_rig rig;
static char *mem; /* PAGES pages */

#define PAGES 64u
#define P 4096u

static void setup(void)
{
	pin_rig_open(&rig, &(struct pins_attr){ .mode = PINS_ON });
	mem = pin_rig_map(PAGES * P);
}

static void setup_small(void)
{
	pin_rig_open(&rig, &(struct pins_attr){ .mode = PINS_ON,
						.max_bytes = 8 * P,
						.max_pins = 3 });
	mem = pin_rig_map(PAGES * P);
}

static void teardown(void)
{
	pin_rig_close(&rig);
	munmap(mem, PAGES * P);
}

/* Gets and puts a pin.  Returns whether it was already registered. */
static bool hit(size_t off, size_t len, unsigned int access)
{
	return pin_rig_hit(&rig, mem + off, len, access);
}

#define R TP_REMOTE_READ
#define W TP_REMOTE_WRITE

START_TEST(the_same_again)
{
	ck_assert(!hit(100, 5000, R));
	ck_assert(hit(100, 5000, R));
	ck_assert_uint_eq(rig.st.bytes, 5000);
	ck_assert_uint_eq(rig.st.pins, 1);
	ck_assert_uint_eq(mock.mrs, 1);
}
END_TEST

START_TEST(a_part_of_it)
{
	ck_assert(!hit(1000, 5000, R));
	ck_assert(hit(1000, 1, R));
	ck_assert(hit(5999, 1, R));
	ck_assert(hit(2000, 3000, R));
	ck_assert(!hit(999, 2, R));
	ck_assert(!hit(5999, 2, R));
}
END_TEST

START_TEST(others_beside_it)
{
	ck_assert(!hit(0, 1000, R));
	ck_assert(!hit(1000, 1000, R));
	ck_assert(!hit(20 * P, 1000, R));
	ck_assert(hit(0, 1000, R));
	ck_assert(hit(1000, 1000, R));
	ck_assert(hit(20 * P, 1000, R));
	ck_assert_uint_eq(rig.st.pins, 3);
}
END_TEST

START_TEST(the_bigger_replaces_the_smaller)
{
	ck_assert(!hit(P, P, R));
	ck_assert(!hit(3 * P, P, R));
	ck_assert(!hit(0, 4 * P, R));
	ck_assert_uint_eq(rig.st.pins, 1);
	ck_assert_uint_eq(mock.mrs, 1);
	ck_assert(!hit(3 * P, 2 * P, R));
	ck_assert_uint_eq(rig.st.pins, 2);
}
END_TEST

START_TEST(rights_add_up)
{
	ck_assert(!hit(0, P, R));
	ck_assert(!hit(0, P, W));
	ck_assert_uint_eq(rig.st.pins, 1);
	ck_assert(hit(0, P, R));
	ck_assert(hit(0, P, R | W));
	ck_assert(!hit(0, P, TP_REMOTE_ATOMIC));
}
END_TEST

START_TEST(asking_does_not_register)
{
	struct pin *pin;

	ck_assert_ptr_null(pin_find(rig.pins, mem, P, R));
	ck_assert_uint_eq(mock.mrs, 0);
	hit(0, P, R);
	ck_assert_ptr_null(pin_find(rig.pins, mem, P, W));
	ck_assert_ptr_null(pin_find(rig.pins, mem, P + 1, R));
	pin = pin_find(rig.pins, mem + 5, 6, R);
	ck_assert_ptr_nonnull(pin);
	ck_assert_ptr_eq(pin_mr(pin)->addr, mem);
	pin_put(rig.pins, pin);
}
END_TEST

START_TEST(bounded_in_number)
{
	ck_assert(!hit(0, 1, R));
	ck_assert(!hit(P, 1, R));
	ck_assert(!hit(2 * P, 1, R));
	ck_assert(hit(0, 1, R));
	ck_assert(!hit(3 * P, 1, R)); /* the second one was dropped for it */
	ck_assert(hit(0, 1, R));
	ck_assert(hit(2 * P, 1, R));
	ck_assert(!hit(P, 1, R));
	ck_assert_uint_eq(rig.st.evictions, 2);
	ck_assert_uint_eq(rig.st.pins, 3);
	ck_assert_uint_eq(mock.mrs, 3);
}
END_TEST

START_TEST(bounded_in_bytes)
{
	ck_assert(!hit(0, 4 * P, R));
	ck_assert(!hit(4 * P, 4 * P, R));
	ck_assert(!hit(20 * P, 1, R));
	ck_assert_uint_le(rig.st.bytes, 8 * P);
	ck_assert(hit(4 * P, 4 * P, R));
	ck_assert(!hit(0, 9 * P, R));
	ck_assert(!hit(0, 9 * P, R));
	ck_assert_uint_ge(rig.st.uncached, 2);
	ck_assert(hit(4 * P, 4 * P, R));
}
END_TEST

START_TEST(what_is_in_use_stays)
{
	struct pin *pin[4];
	int i;

	for (i = 0; i < 4; i++)
		ck_assert_int_eq(pin_get(rig.pins, mem + i * P, P, R, &pin[i]),
				 0);
	ck_assert_uint_eq(mock.mrs, 4);
	pin_put(rig.pins, pin[3]); /* there was no room to keep it */
	ck_assert_uint_eq(mock.mrs, 3);
	ck_assert(!hit(3 * P, P, R));
	for (i = 0; i < 3; i++)
		pin_put(rig.pins, pin[i]);
	ck_assert(hit(0, P, R));
	ck_assert(!hit(3 * P, P, R));
	ck_assert(hit(3 * P, P, R));
}
END_TEST

START_TEST(dropped_is_not_found_again)
{
	struct pin *a, *b;

	ck_assert_int_eq(pin_get(rig.pins, mem, P, R, &a), 0);
	ck_assert_int_eq(pin_get(rig.pins, mem, P, R, &b), 0);
	ck_assert_ptr_eq(a, b);
	pin_drop(rig.pins, a);
	ck_assert_uint_eq(mock.mrs, 1);
	ck_assert_int_eq(pins_settle(rig.pins, clock_after_ms(1)), -ETIMEDOUT);
	ck_assert_ptr_null(pin_find(rig.pins, mem, P, R));
	pin_put(rig.pins, b);
	ck_assert_uint_eq(mock.mrs, 0);
	ck_assert_int_eq(pins_settle(rig.pins, clock_after_ms(1)), 0);
	ck_assert(!hit(0, P, R));
}
END_TEST

START_TEST(wrong_ranges)
{
	struct pin *pin;

	ck_assert_int_eq(pin_get(rig.pins, mem, 0, R, &pin), -EINVAL);
	ck_assert_int_eq(pin_get(rig.pins, mem, SIZE_MAX, R, &pin), -EINVAL);
	ck_assert_ptr_null(pin_find(rig.pins, mem, 0, R));
}
END_TEST

START_TEST(not_in_a_child)
{
	struct pin *pin;
	int status;
	pid_t pid;

	hit(0, P, R);
	pid = fork();
	if (!pid) {
		if (pin_get(rig.pins, mem, P, R, &pin) != -ECHILD ||
		    pin_find(rig.pins, mem, P, R))
			_exit(1);
		pins_abandon(rig.pins);
		munmap(mem, PAGES * P);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert(hit(0, P, R));
}
END_TEST

/* A child that lives on with the descriptors does not delay the parent. */
START_TEST(a_child_does_not_matter)
{
	int status, p[2];
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe(p), 0);
	hit(0, 4 * P, R);
	hit(2 * P, 10 * P, R);
	hit(30 * P + 5, 6, R);
	pid = fork();
	if (!pid) {
		close(p[1]);
		_exit(read(p[0], &c, 1) != 0);
	}
	close(p[0]);
	munmap(mem + 3 * P, P);
	pins_close(rig.pins);
	rig.pins = NULL;
	munmap(mem, PAGES * P);
	mem = pin_rig_map(PAGES * P);
	close(p[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* ---- modes ---- */

static void setup_bare(void)
{
	mem = pin_rig_map(PAGES * P);
}

START_TEST(switched_off)
{
	pin_rig_open(&rig, &(struct pins_attr){ .mode = PINS_OFF });
	ck_assert(!hit(0, P, R));
	ck_assert(!hit(0, P, R));
	ck_assert_uint_eq(mock.mrs, 0);
	ck_assert_int_eq(rig.st.keeps, 'n');
	ck_assert_uint_ge(rig.st.uncached, 2);
}
END_TEST

START_TEST(not_where_it_is_cheap)
{
	pin_rig_open(&rig, &(struct pins_attr){ .mode = PINS_AUTO });
	ck_assert(!hit(0, P, R));
	ck_assert_uint_eq(mock.mrs, 0);
	ck_assert_int_eq(rig.st.keeps, 'n');
}
END_TEST

/* Two instances share only the watching of memory. */
START_TEST(two_instances)
{
	struct pin_rig other;

	pin_rig_open(&rig, &(struct pins_attr){ .mode = PINS_ON });
	pin_rig_open(&other, &(struct pins_attr){ .mode = PINS_ON });
	ck_assert(!hit(0, P, R));
	ck_assert(!pin_rig_hit(&other, mem, P, R));
	ck_assert(pin_rig_hit(&other, mem, P, R));
	ck_assert(hit(0, P, R));
	madvise(mem, P, MADV_DONTNEED);
	ck_assert(!pin_rig_hit_calm(&rig, mem, P, R));
	ck_assert(!pin_rig_hit_calm(&other, mem, P, R));
	pin_rig_close(&rig);
	pin_rig_open(&rig, &(struct pins_attr){ .mode = PINS_ON });
	ck_assert(pin_rig_hit(&other, mem, P, R));
	madvise(mem, P, MADV_DONTNEED);
	ck_assert(!pin_rig_hit_calm(&other, mem, P, R));
	pin_rig_close(&other);
}
END_TEST

/* The kernel still treats the memory as one mapping; otherwise it could not be moved. */
START_TEST(watched_memory_can_be_moved)
{
	char *p;

	pin_rig_open(&rig, &(struct pins_attr){ .mode = PINS_ON });
	hit(5 * P, P, R);
	hit(9 * P + 7, 3, R);
	p = mremap(mem, PAGES * P, 2 * PAGES * P, MREMAP_MAYMOVE);
	ck_assert_ptr_ne(p, MAP_FAILED);
	mem = mremap(p, 2 * PAGES * P, PAGES * P, MREMAP_MAYMOVE);
	ck_assert_ptr_eq(mem, p);
	ck_assert(!pin_rig_hit_calm(&rig, mem + 5 * P, P, R));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pin");
	TCase *tc = tcase_create("pin"), *small = tcase_create("bounds"),
	      *modes = tcase_create("modes");

	if (pin_rig_skip())
		return 77;
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_same_again);
	tcase_add_test(tc, a_part_of_it);
	tcase_add_test(tc, others_beside_it);
	tcase_add_test(tc, the_bigger_replaces_the_smaller);
	tcase_add_test(tc, rights_add_up);
	tcase_add_test(tc, asking_does_not_register);
	tcase_add_test(tc, dropped_is_not_found_again);
	tcase_add_test(tc, wrong_ranges);
	tcase_add_test(tc, not_in_a_child);
	tcase_add_test(tc, a_child_does_not_matter);
	tcase_add_checked_fixture(small, setup_small, teardown);
	tcase_add_test(small, bounded_in_number);
	tcase_add_test(small, bounded_in_bytes);
	tcase_add_test(small, what_is_in_use_stays);
	tcase_add_checked_fixture(modes, setup_bare, teardown);
	tcase_add_test(modes, switched_off);
	tcase_add_test(modes, not_where_it_is_cheap);
	tcase_add_test(modes, two_instances);
	tcase_add_test(modes, watched_memory_can_be_moved);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, small);
	suite_add_tcase(s, modes);
	return run_suite(s);
}
