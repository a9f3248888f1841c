/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_outcome.c - the answers of an iod about changes that an earlier primary got: OUTCOME. */
#include <check.h>
#include <errno.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "server/once/change_records.h"
#include "server/state/worker.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

#define GROUP 1024u
#define ORIGIN 5u /* the earlier primary */
#define SLOT 2u

static char dir[64];
static struct iod *iod;
static struct addr addr;
static struct iodc client, mgr;

static void assign(uint32_t version)
{
	struct wire_copyset set = { .id = htole32(GROUP),
				    .version = htole32(version),
				    .n = htole32(1) };
	struct wire_assign body = { .revision = htole64(version),
				    .n = htole32(1) };
	struct iodc_item item = { &set, sizeof(set) };

	ck_assert_int_eq(
		iodc_call(&mgr, WIRE_ASSIGN, &body, sizeof(body), &item, 1), 0);
}

static void open_client(void)
{
	iodc_open_with(&client, &addr, WIRE_ROLE_CLIENT, 0,
		       &(struct iodc_with){ .features = WIRE_FT_COPIES });
	client.copyset = (struct copyset_ref){ GROUP, 1 };
}

static void setup(void)
{
	struct iod_conf conf;

	iodc_mkdir(dir);
	iod_here_conf(&conf, dir);
	iod_here_start(&conf, NULL, &iod, &addr);
	iodc_open_mgr(&mgr, &addr);
	open_client();
	assign(1);
}

static void teardown(void)
{
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
}

/* A part of a change of 30 bytes, which an order brought. */
static void record(uint64_t seq, uint64_t bytes)
{
	const struct change_id id = { client.session, ORIGIN, SLOT, seq };

	change_records_add(iod->change_records, &id, bytes, 30,
			   clock_boot() + RPC_WAIT_MAX_MS * CLOCK_NS_PER_MS);
}

/* Returns a state or -errno. */
static int ask(uint64_t seq, uint32_t origin, uint64_t done)
{
	const struct wire_outcome body = { htole64(seq), htole32(origin),
					   htole32(SLOT) };
	const struct wire_outcome_rep *rep = (const void *)client.body;
	int rc = iodc_call(&client, WIRE_OUTCOME, &body, sizeof(body), NULL, 0);

	if (rc)
		return rc;
	ck_assert_uint_eq(le64toh(rep->done), done);
	return (int)le32toh(rep->state);
}

START_TEST(as_far_as_it_was_made)
{
	ck_assert_int_eq(ask(7, ORIGIN, 0), WIRE_OC_UNKNOWN);
	record(7, 10);
	ck_assert_int_eq(ask(7, ORIGIN, 10), WIRE_OC_PART);
	record(7, 20);
	ck_assert_int_eq(ask(7, ORIGIN, 30), WIRE_OC_DONE);
	ck_assert_int_eq(ask(8, ORIGIN, 0), WIRE_OC_UNKNOWN);
	ck_assert_int_eq(ask(7, ORIGIN + 1, 0), WIRE_OC_UNKNOWN);
	ck_assert_int_eq(ask(6, ORIGIN, 0), -ECONNABORTED);
}
END_TEST

START_TEST(only_where_the_copyset_is_served)
{
	record(7, 30);
	assign(2);
	ck_assert_int_eq(ask(7, ORIGIN, 0), -WIRE_ECOPYSET);
	client.copyset.version = 2;
	ck_assert_int_eq(ask(7, ORIGIN, 30), WIRE_OC_DONE);
}
END_TEST

START_TEST(not_of_another_session)
{
	const uint64_t session = client.session;

	record(7, 30);
	client.session++;
	record(9, 10);
	client.session = session;
	ck_assert_int_eq(ask(7, ORIGIN, 30), WIRE_OC_DONE);
	ck_assert_int_eq(ask(9, ORIGIN, 0), WIRE_OC_UNKNOWN);
}
END_TEST

static enum change_outcome recorded(uint64_t seq)
{
	const struct change_id id = { client.session, ORIGIN, SLOT, seq };
	enum change_outcome outcome;
	uint64_t done;

	ck_assert_int_eq(change_records_find(iod->change_records, &id,
					     clock_boot(), &outcome, &done),
			 0);
	return outcome;
}

/* By FENCE, and by the BYE of the client. */
START_TEST(the_end_of_the_session)
{
	record(7, 30);
	ck_assert_int_eq(iodc_fence(&mgr, client.session), 0);
	ck_assert_int_eq(recorded(7), CHANGE_UNKNOWN);
	iodc_close(&client);
	open_client();
	record(7, 30);
	ck_assert_int_eq(ask(7, ORIGIN, 30), WIRE_OC_DONE);
	iodc_close(&client);
	while (recorded(7) != CHANGE_UNKNOWN)
		usleep(1000);
	open_client();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_outcome");
	TCase *tc = tcase_create("outcome");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, as_far_as_it_was_made);
	tcase_add_test(tc, only_where_the_copyset_is_served);
	tcase_add_test(tc, not_of_another_session);
	tcase_add_test(tc, the_end_of_the_session);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
