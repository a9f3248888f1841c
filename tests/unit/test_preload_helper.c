/* SPDX-License-Identifier: BSD-2-Clause */
/* test_preload_helper.c - when the helper thread of the preload library works. */
#include <check.h>
#include <semaphore.h>

#include "client/preload/bypass/helper.h"
#include "client/preload/own_call.h"
#include "common/util/clock.h"
#include "tests/run_suite.h"

/* A part of the library; this test sends no signals. */
__thread volatile sig_atomic_t own_call_depth OWN_CALL_TLS;
__thread volatile sig_atomic_t own_call_held OWN_CALL_TLS;
__thread char *volatile own_call_handler_frame OWN_CALL_TLS;
void own_call_deliver(void)
{
}

static struct helper helper;
static unsigned int works;
static uint64_t second_work_at;
static sem_t done;

/* Another thread wakes the helper during its first work. */
static enum helper_next work(void *arg)
{
	if (!works++) {
		helper_wake(&helper);
		return HELPER_AGAIN;
	}
	second_work_at = clock_now();
	sem_post(&done);
	return HELPER_END;
}

START_TEST(wake_during_work_is_not_lost)
{
	uint64_t begun = clock_now();

	ck_assert_int_eq(sem_init(&done, 0, 0), 0);
	helper_init(&helper, work, NULL);
	helper_wake(&helper);
	ck_assert_int_eq(sem_wait(&done), 0);
	ck_assert_uint_lt(second_work_at - begun, 900 * CLOCK_NS_PER_MS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("preload_helper");
	TCase *tc = tcase_create("helper");

	tcase_add_test(tc, wake_during_work_is_not_lost);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
