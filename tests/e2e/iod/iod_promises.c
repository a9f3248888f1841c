/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_promises.c - two iods with a copyset of both.  Its primary answers only while the other member
 * promises not to serve.
 */
#include <check.h>
#include <errno.h>
#include <unistd.h>

#include "server/copyset/assignments.h"
#include "server/state/worker.h"
#include "tests/e2e/iod/iod_here.h"
#include "tests/e2e/iod/iodc.h"
#include "tests/run_suite.h"

#define IODS 2u
#define GROUP 1024u
#define OBJECT 7u
#define LEASE_MS 200u

static struct host {
	char dir[64];
	struct iod *iod; /* NULL: it does not run */
	struct iodc mgr, client;
} host[IODS];
static struct addr addr[IODS]; /* as in the configuration of both */

static void start(unsigned int i)
{
	const struct iodc_with with = { .index = i,
					.features = WIRE_FT_COPIES };
	struct iod_conf conf;

	iod_here_conf(&conf, host[i].dir);
	conf.index = i;
	conf.niods = IODS;
	conf.iods = addr;
	conf.group_lease_ms = LEASE_MS;
	if (addr[i].port)
		conf.addr = addr[i];
	iod_here_start(&conf, NULL, &host[i].iod, &addr[i]);
	iodc_open_with(&host[i].mgr, &addr[i], WIRE_ROLE_MGR, 0, &with);
	ck_assert_int_eq(iodc_claim(&host[i].mgr, 1), 0);
	ck_assert_int_eq(iodc_lease(&host[i].mgr, 3600000), 0);
	iodc_open_with(&host[i].client, &addr[i], WIRE_ROLE_CLIENT, 0, &with);
}

static void stop(unsigned int i)
{
	iodc_close(&host[i].client);
	iodc_close(&host[i].mgr);
	iod_stop(host[i].iod);
	host[i].iod = NULL;
}

static void setup(void)
{
	memset(addr, 0, sizeof(addr));
	for (unsigned int i = 0; i < IODS; i++) {
		iodc_mkdir(host[i].dir);
		start(i);
	}
}

static void teardown(void)
{
	for (unsigned int i = 0; i < IODS; i++) {
		if (host[i].iod)
			stop(i);
		iodc_rmdir(host[i].dir);
	}
}

/* The members of the row are iods 0 and 1. */
static void assign(unsigned int to, uint32_t version,
		   enum wire_copyset_state first,
		   enum wire_copyset_state second)
{
	struct wire_copyset set = { .id = htole32(GROUP),
				    .version = htole32(version),
				    .n = htole32(2),
				    .member = {
					    { 0, htole16(first) },
					    { htole16(1), htole16(second) } } };
	struct wire_assign body = { .revision = htole64(version),
				    .n = htole32(1) };
	struct iodc_item item = { &set, sizeof(set) };

	ck_assert_int_eq(iodc_call(&host[to].mgr, WIRE_ASSIGN, &body,
				   sizeof(body), &item, 1),
			 0);
}

static void assign_both(uint32_t version, enum wire_copyset_state first,
			enum wire_copyset_state second)
{
	for (unsigned int i = 0; i < IODS; i++)
		assign(i, version, first, second);
}

/* A read of a client.  0: the iod serves. */
static int serves(unsigned int i, uint32_t version)
{
	struct iodc *c = &host[i].client;
	uint64_t done;

	c->copyset = (struct copyset_ref){ GROUP, version };
	return iodc_pread(c, OBJECT, 0, 10, &done);
}

/* Waits until the iod serves or not.  Meanwhile it gives no other answer. */
static void wait_until_serves(unsigned int i, uint32_t version, bool wanted)
{
	int rc;

	while ((rc = serves(i, version)) != (wanted ? 0 : -WIRE_ECOPYSET)) {
		ck_assert_int_eq(rc, wanted ? -WIRE_ECOPYSET : 0);
		usleep(10000);
	}
}

START_TEST(nothing_is_answered_without_promises)
{
	uint64_t size;

	stop(1);
	assign(0, 1, WIRE_CS_SERVING, WIRE_CS_SERVING);
	ck_assert_int_eq(serves(0, 1), -WIRE_ECOPYSET);
	ck_assert_int_eq(iodc_size(&host[0].client, OBJECT, &size),
			 -WIRE_ECOPYSET);
	ck_assert_int_eq(iodc_pwrite(&host[0].client, OBJECT, 0, 10),
			 -WIRE_ECOPYSET);
	start(1);
	assign(1, 1, WIRE_CS_SERVING, WIRE_CS_SERVING);
	wait_until_serves(0, 1, true);
	ck_assert_int_eq(serves(1, 1), -WIRE_ECOPYSET);
	/* the promises end with the member, and reads with them */
	stop(1);
	wait_until_serves(0, 1, false);
	ck_assert_int_eq(iodc_size(&host[0].client, OBJECT, &size),
			 -WIRE_ECOPYSET);
}
END_TEST

START_TEST(promises_are_renewed)
{
	assign_both(1, WIRE_CS_SERVING, WIRE_CS_SERVING);
	wait_until_serves(0, 1, true);
	for (unsigned int i = 0; i < 5; i++) {
		usleep(LEASE_MS * 1000);
		wait_until_serves(0, 1, true);
	}
}
END_TEST

START_TEST(a_sole_serving_member_needs_none)
{
	stop(1);
	assign(0, 1, WIRE_CS_SERVING, WIRE_CS_OFFLINE);
	wait_until_serves(0, 1, true); /* one lease after its start */
	usleep(2 * LEASE_MS * 1000);
	ck_assert_int_eq(serves(0, 1), 0);
}
END_TEST

/* The old primary agrees to the new row, so the new one need not wait. */
START_TEST(a_hand_over)
{
	assign_both(1, WIRE_CS_SERVING, WIRE_CS_SERVING);
	wait_until_serves(0, 1, true);
	assign_both(2, WIRE_CS_SYNCING, WIRE_CS_SERVING);
	wait_until_serves(1, 2, true);
	ck_assert_int_eq(serves(0, 1), -WIRE_ECOPYSET);
	ck_assert_int_eq(serves(0, 2), -WIRE_ECOPYSET);
}
END_TEST

/* A promise to a primary that has gone holds until its end, also over the new row. */
START_TEST(a_primary_that_has_gone)
{
	assign_both(1, WIRE_CS_SERVING, WIRE_CS_SERVING);
	wait_until_serves(0, 1, true);
	stop(0);
	assign(1, 2, WIRE_CS_OFFLINE, WIRE_CS_SERVING);
	wait_until_serves(1, 2, true);
}
END_TEST

static int ask(struct iodc *c, uint64_t lease, uint32_t version)
{
	struct wire_promise body = { .process = htole64(1),
				     .lease = htole64(lease),
				     .iod = htole32(0),
				     .n = htole32(1) };
	struct wire_promised promised = { htole32(GROUP), htole32(version), 0 };
	struct iodc_item item = { &promised, sizeof(promised) };

	return iodc_call(c, WIRE_PROMISE, &body, sizeof(body), &item, 1);
}

static uint32_t promises_in_reply(const struct iodc *c)
{
	const struct wire_promise *rep = (const void *)c->body;

	return le32toh(rep->n);
}

/* From iods only, to the primary of its row only, and for no longer than its own lease. */
START_TEST(what_a_member_promises)
{
	const uint64_t lease = LEASE_MS * UINT64_C(1000000);
	struct iodc peer;

	assign(1, 3, WIRE_CS_SERVING, WIRE_CS_SERVING);
	ck_assert_int_eq(ask(&host[1].client, lease, 3), -EPERM);
	iodc_open_with(&peer, &addr[1], WIRE_ROLE_IOD, 0,
		       &(struct iodc_with){ .index = 1 });
	ck_assert_int_eq(ask(&peer, lease, 3), 0);
	ck_assert_uint_eq(promises_in_reply(&peer), 1);
	ck_assert_int_eq(ask(&peer, lease + 1, 3), 0);
	ck_assert_uint_eq(promises_in_reply(&peer), 0);
	ck_assert_int_eq(ask(&peer, lease, 4), 0);
	ck_assert_uint_eq(promises_in_reply(&peer), 0);
	assign(1, 4, WIRE_CS_OFFLINE, WIRE_CS_SERVING);
	ck_assert_int_eq(ask(&peer, lease, 4), 0);
	ck_assert_uint_eq(promises_in_reply(&peer), 0);
	iodc_close(&peer);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("iod_promises");
	TCase *tc = tcase_create("promises");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, nothing_is_answered_without_promises);
	tcase_add_test(tc, promises_are_renewed);
	tcase_add_test(tc, a_sole_serving_member_needs_none);
	tcase_add_test(tc, a_hand_over);
	tcase_add_test(tc, a_primary_that_has_gone);
	tcase_add_test(tc, what_a_member_promises);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
