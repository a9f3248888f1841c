/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_return.c - a client that had to change to a slower transport returns to the better one
 * when the server offers it, and loses no call by that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/peer_int.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

static struct rig *rig;
static struct rpc_server *other; /* at the same port, over local */

static void setup(void)
{
	rig = calloc(1, sizeof(*rig));
	rig->coption = rig->soption = "local:tcp";
	rig_open(rig, "pvfs");
	other = NULL;
}

static void teardown(void)
{
	if (other)
		rpc_server_close(other);
	rig_close(rig);
}

static bool is_over(const char *transport)
{
	return rpc_peer_ready(rig->peer) &&
	       !strcmp(rpc_peer_transport(rig->peer), transport);
}

static void appends(void)
{
	uint64_t offset;

	ck_assert_int_eq(rig_append_now(rig, 1, &offset, RIG_PATIENCE_MS), 0);
}

static void starts_over(const char *transport)
{
	rig_server_close(rig);
	snprintf(rig->addr.scheme, sizeof(rig->addr.scheme), "%s", transport);
	rig_server_open(rig);
}

static void starts_local_beside(void)
{
	struct rpc_server_attr attr = rig->sattr;

	snprintf(attr.addr.scheme, sizeof(attr.addr.scheme), "local");
	attr.addr.port = rig->addr.port;
	attr.boot++;
	ck_assert_int_eq(rpc_server_open(&attr, &other), 0);
}

START_TEST(goes_back)
{
	appends();
	ck_assert(is_over("local"));
	starts_over("tcp");
	rig_until(rig, is_over("tcp"));
	appends();
	starts_local_beside();
	rig_until(rig, is_over("local"));
	appends();
	ck_assert_uint_eq(rig_logged(rig, "cannot connect"), 0);
}
END_TEST

static void connects_over_tcp(void)
{
	rpc_peer_close(rig->peer, false);
	starts_over("tcp");
	snprintf(rig->addr.scheme, sizeof(rig->addr.scheme), "pvfs");
	rig->peer = rig_peer_open(rig);
	appends();
	ck_assert(is_over("tcp"));
}

/* The server offers local, but was not ready for it when the client connected. */
START_TEST(goes_to_what_is_offered)
{
	rig->sattr.features |= WIRE_FT_LOCAL;
	connects_over_tcp();
	starts_local_beside();
	rig_until(rig, is_over("local"));
	appends();
}
END_TEST

/* A rejection (EACCES) by an earlier server process, or over tcp, does not prevent local later. */
START_TEST(goes_there_after_a_refusal)
{
	connects_over_tcp();
	link_fail(&rig->peer->link, -EACCES);
	rig_until(rig, !rpc_peer_ready(rig->peer));
	rig->sattr.features |= WIRE_FT_LOCAL;
	starts_over("tcp");
	rig_until(rig, is_over("tcp"));
	starts_local_beside();
	rig_until(rig, is_over("local"));
	appends();
}
END_TEST

/* A server that no longer offers it is asked at growing intervals, and serves meanwhile. */
START_TEST(stays_where_it_works)
{
	struct rig_call held = { 0 };

	appends();
	starts_over("tcp");
	rig_until(rig, is_over("tcp"));
	rig_release(rig, &held, RIG_PATIENCE_MS);
	rig_until(rig, rig->nheld);
	rig_for_ms(rig, 1500); /* it has tried by then */
	ck_assert(is_over("tcp"));
	appends();
	rig_answer(rig);
	rig_until(rig, held.finished);
	ck_assert_int_eq(held.call.status, 0);
	ck_assert_uint_eq(held.times, 1);
	ck_assert_uint_eq(rig_logged(rig, "over tcp"), 1);
	ck_assert_uint_eq(rig->opened, 2); /* one session at each server */
}
END_TEST

/* If the port is configured, a client that reached the last transport finds the others. */
START_TEST(listens_on_the_last_at_last)
{
	const char *local, *tcp;

	ck_assert_uint_ne(rig->addr.port, 0);
	rig_server_close(rig);
	rig->text_len = 0;
	rig->log.level = LOG_LV_DEBUG;
	rig_server_open(rig);
	local = strstr(rig->text, "listens on local");
	tcp = strstr(rig->text, "listens on tcp");
	ck_assert_msg(local && tcp && local < tcp, "%s", rig->text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_return");
	TCase *tc = tcase_create("return");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, goes_back);
	tcase_add_test(tc, goes_to_what_is_offered);
	tcase_add_test(tc, goes_there_after_a_refusal);
	tcase_add_test(tc, stays_where_it_works);
	tcase_add_test(tc, listens_on_the_last_at_last);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
