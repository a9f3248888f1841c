/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_assign.c - ASSIGN: which copysets an iod serves. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/copyset/assignments.h"
#include "server/state/worker.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

static char dir[64];
static struct iod *iod;
static struct addr addr;
static struct iodc client, mgr;

static void start(void)
{
	struct iod_conf conf;

	iod_here_conf(&conf, dir);
	iod_here_start(&conf, NULL, &iod, &addr);
}

static void setup(void)
{
	iodc_mkdir(dir);
	start();
	iodc_open_mgr(&mgr, &addr);
	iodc_open(&client, &addr, WIRE_ROLE_CLIENT, 0);
}

static void teardown(void)
{
	iodc_close(&client);
	iodc_close(&mgr);
	iod_stop(iod);
	iodc_rmdir(dir);
}

static void restart(void)
{
	iodc_close(&mgr);
	iod_stop(iod);
	start();
	iodc_open(&mgr, &addr, WIRE_ROLE_MGR, 0);
}

static uint64_t revision;

/* Copysets of one member each, from id on. */
static int assign_by(struct iodc *c, uint32_t id, uint32_t n, uint32_t version,
		     uint32_t member)
{
	static struct wire_copyset set[WIRE_COPYSETS_MAX];
	struct wire_assign body = { .revision = htole64(++revision),
				    .n = htole32(n) };
	struct iodc_item item = { set, n * sizeof(set[0]) };

	for (uint32_t i = 0; i < n; i++) {
		set[i] = (struct wire_copyset){ .id = htole32(id + i),
						.version = htole32(version),
						.n = htole32(1) };
		set[i].member[0].iod = htole16((uint16_t)member);
	}
	return iodc_call(c, WIRE_ASSIGN, &body, sizeof(body), &item, 1);
}

static int assign(uint32_t version, uint32_t member)
{
	return assign_by(&mgr, 1024, 1, version, member);
}

static int serves(uint32_t id, uint32_t version)
{
	return copyset_check(iod->assignments,
			     (struct copyset_ref){ id, version });
}

START_TEST(served_in_the_version_that_was_assigned)
{
	ck_assert_int_eq(serves(1024, 1), -WIRE_ECOPYSET);
	ck_assert_int_eq(assign(1, 0), 0);
	ck_assert_int_eq(serves(1024, 1), 0);
	ck_assert_int_eq(assign(2, 5), 0);
	ck_assert_int_eq(serves(1024, 2), -WIRE_ECOPYSET);
	ck_assert_int_eq(assign(3, 0), 0);
	ck_assert_int_eq(serves(1024, 3), 0);
	ck_assert_int_eq(assign(2, 5), 0); /* an old order */
	ck_assert_int_eq(serves(1024, 3), 0);
}
END_TEST

/* The last part of a revision leaves out a copyset that has moved away. */
START_TEST(moved_away)
{
	struct wire_assign body = { .revision = htole64(1000),
				    .flags = htole32(WIRE_AS_LAST) };
	const struct wire_ended ended = { htole64(5), htole32(2), 0 };
	struct iodc_item item[2] = { { NULL, 0 }, { &ended, sizeof(ended) } };

	ck_assert_int_eq(assign(1, 0), 0);
	body.ended = htole32(1);
	ck_assert_int_eq(
		iodc_call(&mgr, WIRE_ASSIGN, &body, sizeof(body), item, 2), 0);
	ck_assert_int_eq(serves(1024, 1), -WIRE_ECOPYSET);
	ck_assert_int_eq(assign(2, 0), 0); /* late */
	ck_assert_int_eq(serves(1024, 2), -WIRE_ECOPYSET);
}
END_TEST

/* Object 1 of copyset 1024, with five bytes. */
static void make_source(void)
{
	char path[160];
	FILE *f;

	for (unsigned int part = 0; part < 2; part++) {
		snprintf(path, sizeof(path), "%s/objects/27%s", dir,
			 part ? "/23" : "");
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	strcat(path, "/0000000000000001-00000400");
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs("abcde", f), 0);
	fclose(f);
}

static int copy_from(uint32_t source)
{
	const struct wire_copy body = { .handle = htole64(77),
					.from = htole64(1),
					.len = htole64(5),
					.iod = htole32(source) };

	return iodc_call(&client, WIRE_COPY, &body, sizeof(body), NULL, 0);
}

/* The source of a COPY is an object of a copyset; the target belongs to the iod alone. */
START_TEST(copy_from_a_copyset)
{
	uint64_t done;

	make_source();
	ck_assert_int_eq(copy_from(1024), -EHOSTUNREACH);
	ck_assert_int_eq(assign(1, 0), 0);
	ck_assert_int_eq(copy_from(1024), 0);
	ck_assert_int_eq(iodc_pread(&client, 77, 0, 5, &done), 0);
	ck_assert_uint_eq(done, 5);
	ck_assert_mem_eq(client.arena, "abcde", 5);
	ck_assert_int_eq(copy_from(0), 0); /* its own object is empty */
	ck_assert_int_eq(iodc_pread(&client, 77, 0, 5, &done), 0);
	ck_assert_mem_eq(client.arena, "\0\0\0\0\0", 5);
	ck_assert_int_eq(assign(2, 1), 0);
	ck_assert_int_eq(copy_from(1024), -EHOSTUNREACH);
}
END_TEST

START_TEST(as_many_as_an_order_has)
{
	ck_assert_int_eq(assign_by(&mgr, 1024, 0, 1, 0), 0);
	for (uint32_t id = 1024; id < 1024 + 3 * WIRE_COPYSETS_MAX;
	     id += WIRE_COPYSETS_MAX)
		ck_assert_int_eq(assign_by(&mgr, id, WIRE_COPYSETS_MAX, 1, 0),
				 0);
	ck_assert_int_eq(serves(1024, 1), 0);
	ck_assert_int_eq(serves(1023 + 3 * WIRE_COPYSETS_MAX, 1), 0);
}
END_TEST

START_TEST(kept_over_a_restart)
{
	ck_assert_int_eq(assign(4, 0), 0);
	restart();
	ck_assert_int_eq(serves(1024, 4), 0);
}
END_TEST

/* A manager repeats the order until it is durable. */
START_TEST(answered_when_durable)
{
	char blocker[80];

	snprintf(blocker, sizeof(blocker), "%s/copysets.new", dir);
	ck_assert_int_eq(assign(1, 0), 0);
	ck_assert_int_eq(mkdir(blocker, 0700), 0);
	ck_assert_int_eq(assign(2, 0), -EAGAIN);
	ck_assert_int_eq(serves(1024, 1), -WIRE_ECOPYSET);
	ck_assert_int_eq(serves(1024, 2), -WIRE_ECOPYSET);
	ck_assert_int_eq(rmdir(blocker), 0);
	ck_assert_int_eq(assign(2, 0), 0);
	ck_assert_int_eq(serves(1024, 2), 0);
}
END_TEST

/* Not a client, and no manager before its CLAIM or after that of a later one. */
START_TEST(only_the_manager_in_charge)
{
	struct iodc next;

	ck_assert_int_eq(assign_by(&client, 1024, 1, 1, 0), -EPERM);
	iodc_open(&next, &addr, WIRE_ROLE_MGR, 99);
	ck_assert_int_eq(assign_by(&next, 1024, 1, 1, 0), -EAGAIN);
	ck_assert_int_eq(iodc_claim(&next, 2), 0);
	mgr.timeout_ms = 2000;
	ck_assert_int_eq(assign(1, 0), -ESTALE);
	ck_assert_int_eq(serves(1024, 1), -WIRE_ECOPYSET);
	ck_assert_int_eq(assign_by(&next, 1024, 1, 1, 0), 0);
	ck_assert_int_eq(serves(1024, 1), 0);
	iodc_close(&next);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_assign");
	TCase *tc = tcase_create("assign");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, served_in_the_version_that_was_assigned);
	tcase_add_test(tc, moved_away);
	tcase_add_test(tc, copy_from_a_copyset);
	tcase_add_test(tc, as_many_as_an_order_has);
	tcase_add_test(tc, kept_over_a_restart);
	tcase_add_test(tc, answered_when_durable);
	tcase_add_test(tc, only_the_manager_in_charge);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
