/* SPDX-License-Identifier: BSD-2-Clause */
/* contract.c - "contract PROVIDER" runs the suite against that provider. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/contract/contract.h"

struct world world;
static const char *provider;

static TCase *(*const chapters[])(void) = {
	case_device,  case_connect,  case_message, case_rdma,  case_atomic,
	case_access,  case_volatile, case_limits,  case_close, case_wait,
	case_threads, case_group,    case_bulk,	   case_many,  case_killed,
	case_fork,    case_pass,     case_shared,
};

const char *contract_provider(void)
{
	return provider;
}

unsigned int contract_scaled(unsigned int n)
{
	const char *by = getenv("CONTRACT_DIVIDE");
	unsigned long divisor = by ? strtoul(by, NULL, 10) : 1;

	return divisor > 1 ? n / (unsigned int)divisor + 1 : n;
}

static void setup(void)
{
	world_open(&world, provider, DEPTH);
}

static void teardown(void)
{
	world_close(&world);
}

TCase *contract_bare_case(const char *name)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 0);
	return tc;
}

TCase *contract_case(const char *name)
{
	TCase *tc = contract_bare_case(name);

	tcase_add_checked_fixture(tc, setup, teardown);
	return tc;
}

int main(int argc, char **argv)
{
	SRunner *runner;
	Suite *suite;
	unsigned int i;
	int failed;

	if (argc != 2) {
		fprintf(stderr, "usage: %s PROVIDER\n", argv[0]);
		return 2;
	}
	provider = argv[1];
	suite = suite_create(provider);
	for (i = 0; i < sizeof(chapters) / sizeof(chapters[0]); i++)
		suite_add_tcase(suite, chapters[i]());
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
