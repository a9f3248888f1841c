/* SPDX-License-Identifier: BSD-2-Clause */
/* faults.c - runs the tests of the fault provider. */
#include <stdlib.h>

#include "tests/fault/faults.h"

struct world world;

static void setup(void)
{
	world_open(&world, PROVIDER, 4096);
}

static void teardown(void)
{
	world_close(&world);
}

TCase *world_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	return tc;
}

static void set(struct side *s, const char *text)
{
	char err[200] = "";

	ck_assert_msg(fault_set(s->dev, text, err, sizeof(err)) == 0, "%s",
		      err);
}

void rules_a(const char *text)
{
	set(&world.a, text);
}

void rules_b(const char *text)
{
	set(&world.b, text);
}

void post_message(struct tp_ep *ep, struct side *s, uint64_t wr_id,
		  uint64_t seed)
{
	struct mem *m = mem_new(s, MSG, 0);
	struct tp_sge sge = sge_of(m, 0, MSG);
	struct tp_send_wr wr = wr_send(wr_id, &sge);

	mem_fill(m, seed);
	ck_ok(tp_post_send(ep, &wr));
}

struct mem *post_receive(struct tp_ep *ep, struct side *s, uint64_t wr_id)
{
	struct mem *m = mem_new(s, MSG, TP_LOCAL_WRITE);

	side_recv(ep, wr_id, m, 0, MSG);
	return m;
}

int main(void)
{
	SRunner *runner = srunner_create(suite_create("faults"));
	Suite *suite = suite_create("fault+tcp");
	int failed;

	suite_add_tcase(suite, case_rules());
	suite_add_tcase(suite, case_messages());
	suite_add_tcase(suite, case_breaks());
	suite_add_tcase(suite, case_pauses());
	suite_add_tcase(suite, case_connects());
	suite_add_tcase(suite, case_control());
	suite_add_tcase(suite, case_switching());
	suite_add_tcase(suite, case_sweep());
	srunner_add_suite(runner, suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
