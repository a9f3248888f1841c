/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_rails.c - several transports in one progress context: which one a client uses, what
 * happens when it fails, and that calls in flight survive.  A faulty tcp simulates the better
 * fabric.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/fault/fault.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

#define PART 150000u

static struct rig *rig;
static uint8_t *buf;
static struct rail_mem mem;

static void start_with(const char *coption, const char *soption,
		       unsigned int more, uint32_t index)
{
	rig = calloc(1, sizeof(*rig));
	rig->coption = coption;
	rig->soption = soption;
	rig->more = more;
	rig->index = index;
	rig_open(rig, "pvfs");
	buf = calloc(2, PART);
	rail_mem_init(&mem, buf, 2 * PART, TP_REMOTE_READ | TP_REMOTE_WRITE);
	rig->area = &mem;
}

static void start(const char *coption, const char *soption)
{
	start_with(coption, soption, 0, 0);
}

static void finish(void)
{
	rail_mem_fini(&mem);
	rig_close(rig);
	free(buf);
}

static void rules_of(unsigned int i, const char *text)
{
	char err[128];

	ck_assert_int_eq(fault_set(rig->cfabric.rails.dev[i], text, err,
				   sizeof(err)),
			 0);
}

static void rules(const char *text)
{
	rules_of(0, text);
}

static uint64_t hits_of(unsigned int i)
{
	return fault_hits(rig->cfabric.rails.dev[i], 1);
}

static void both_ways(void)
{
	static const struct tp_mr none;
	static struct rig_call w, r;
	size_t i;

	for (i = 0; i < PART; i++)
		buf[i] = (uint8_t)(i * 2654435761u >> 13);
	memset(buf + PART, 0, PART);
	rig_io(rig, &w, WIRE_WRITE, 7, buf, PART, &none, 5, 9000);
	rig_until(rig, w.finished);
	ck_assert_int_eq(w.call.status, 0);
	rig_io(rig, &r, WIRE_READ, 7, buf + PART, PART, &none, 3, 9000);
	rig_until(rig, r.finished);
	ck_assert_int_eq(r.call.status, 0);
	ck_assert_int_eq(memcmp(buf, buf + PART, PART), 0);
	rig_until(rig, rig->bulks == 0);
}

static void is_over(const char *transport, const char *reason)
{
	ck_assert_str_eq(rpc_peer_transport(rig->peer), transport);
	ck_assert_msg(strstr(rpc_peer_reason(rig->peer), reason), "%s",
		      rpc_peer_reason(rig->peer));
}

START_TEST(the_first_rail_that_answers)
{
	start("fault+tcp:tcp", "tcp");
	both_ways();
	is_over("fault+tcp", "first of the fabric");
	ck_assert_uint_eq(rig_logged(rig, "over fault+tcp"), 1);
	finish();
}
END_TEST

START_TEST(the_next_one_when_it_is_refused)
{
	start("fault+tcp:tcp", "tcp");
	rules("connect:refuse:count=always");
	both_ways();
	is_over("tcp", "fault+tcp: Connection refused");
	ck_assert_uint_eq(rig_logged(rig, "trying again"), 0);
	finish();
}
END_TEST

START_TEST(the_next_one_when_nobody_answers_there)
{
	start("fault+tcp:tcp", "tcp");
	rules("send:vanish:ms=20:count=always");
	both_ways();
	is_over("tcp", "does not answer");
	finish();
}
END_TEST

/* The request in flight is sent again with the keys of the other rail. */
START_TEST(a_call_moves_to_the_other_rail)
{
	static const struct tp_mr none;
	static struct rig_call c;

	start("fault+tcp:tcp", "tcp");
	both_ways();
	is_over("fault+tcp", "");
	rules("send:reset;connect:refuse:count=always");
	memset(buf, 'x', PART);
	rig_io(rig, &c, WIRE_WRITE, 100, buf, PART, &none, 4, 9000);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_int_eq(memcmp(buf, rig->object + 100, PART), 0);
	is_over("tcp", "refused");
	ck_assert_uint_eq(rig_logged(rig, "over tcp"), 1);
	both_ways();
	/* and back, when it has to connect again */
	rules("");
	rig_server_close(rig);
	rig_server_open(rig);
	both_ways();
	is_over("fault+tcp", "first of the fabric");
	finish();
}
END_TEST

START_TEST(strict_stays_where_it_is)
{
	static struct rig_call c;

	start("strict:fault+tcp", "tcp");
	both_ways();
	is_over("fault+tcp", "fabric=strict:fault+tcp");
	rules("send:reset;connect:refuse:count=always");
	rig_append(rig, &c, 1, 300);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -ETIMEDOUT);
	rules("");
	both_ways();
	is_over("fault+tcp", "fabric=strict");
	finish();
}
END_TEST

/* A rejection by the server applies to every rail. */
START_TEST(a_refusal_ends_the_choice)
{
	start("fault+tcp:tcp", "tcp");
	rig->fsid = 5;
	rpc_peer_close(rig->peer, false);
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), -ENXIO);
	ck_assert_uint_eq(rig_logged(rig, "refused: it wants file system"), 1);
	finish();
}
END_TEST

/* If memory cannot be registered, only the call fails. */
START_TEST(no_memory_for_keys)
{
	static const struct tp_mr none;
	static struct rig_call c;

	start("fault+tcp:tcp", "tcp");
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	rules("mr_reg:fail");
	rig_io(rig, &c, WIRE_WRITE, 100, buf, PART, &none, 4, 9000);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -ENOMEM);
	both_ways();
	finish();
}
END_TEST

/* ---- several devices of one transport ---- */

#define COUNT "connect:delay:ms=1:count=always"

/* Returns the device of the first connection to a server. */
static unsigned int first_of(uint32_t index)
{
	return (index + 0x1111) % 3;
}

START_TEST(each_server_begins_elsewhere)
{
	for (uint32_t index = 0; index < 6; index++) {
		unsigned int i, first = first_of(index);

		start_with("fault+tcp:tcp", "tcp", 2, index);
		for (i = 0; i < 3; i++)
			rules_of(i, COUNT);
		both_ways();
		for (i = 0; i < 3; i++)
			ck_assert_uint_eq(hits_of(i), i == first);
		is_over("fault+tcp", "first of the fabric");
		finish();
	}
}
END_TEST

/* Requests in flight continue over the next device, and over the first one when that fails. */
START_TEST(the_next_device_takes_over)
{
	unsigned int first = first_of(0), next = (first + 1) % 3, round;
	static const struct tp_mr none;
	static struct rig_call c;

	start_with("fault+tcp:tcp", "tcp", 2, 0);
	rules_of(next, COUNT);
	both_ways();
	ck_assert_uint_eq(hits_of(next), 0);
	for (round = 0; round < 3; round++) {
		rules_of(first, "any:reset;connect:refuse:count=always");
		memset(buf, 'a' + (int)round, PART);
		rig_io(rig, &c, WIRE_WRITE, 100, buf, PART, &none, 4, 9000);
		rig_until(rig, c.finished);
		ck_assert_int_eq(c.call.status, 0);
		ck_assert_mem_eq(buf, rig->object + 100, PART);
		ck_assert_uint_gt(hits_of(next), 0);
		is_over("fault+tcp", "refused");
		both_ways();
		rules_of(first, "");
		rules_of(next, "any:reset");
		both_ways();
		is_over("fault+tcp", "first of the fabric");
		rules_of(next, COUNT);
	}
	finish();
}
END_TEST

/* Then it uses the other transport. */
START_TEST(all_devices_gone)
{
	start_with("fault+tcp:tcp", "tcp", 2, 0);
	for (unsigned int i = 0; i < 3; i++)
		rules_of(i, "connect:refuse:count=always");
	both_ways();
	is_over("tcp", "refused");
	ck_assert_uint_eq(rig_logged(rig, "trying again"), 0);
	finish();
}
END_TEST

/* At the server: connections on two rails of one context. */
START_TEST(two_rails_are_heard)
{
	struct rpc_peer *first, *second;
	struct rpc_server *server;
	struct rpc_server_attr attr;
	struct addr addr;

	start("fault+tcp:tcp", "fault+tcp:tcp");
	/* a tcp port cannot be bound twice: the first rail has no listener */
	ck_assert_uint_eq(rig_logged(rig, "no clients over fault+tcp"), 1);
	attr = rig->sattr;
	strcpy(attr.addr.scheme, "fault+tcp");
	attr.addr.port = 0;
	ck_assert_int_eq(rpc_server_open(&attr, &server), 0);
	rpc_server_addr(server, &addr);
	first = rig->peer;
	rig->addr = addr;
	rig->peer = second = rig_peer_open(rig);
	both_ways();
	rig->peer = first;
	both_ways();
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	rig->peer = second;
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	is_over("fault+tcp", "the address or fabric= says so");
	rpc_peer_close(second, true);
	rig->peer = first;
	both_ways();
	rpc_server_close(server);
	both_ways();
	finish();
}
END_TEST

static void *wakes(void *arg)
{
	rpc_ctx_wake(arg);
	return NULL;
}

/* A wake is effective whichever rails have users, and none is lost. */
START_TEST(wakes_reach_every_sleep)
{
	pthread_t thread;
	unsigned int i;

	start("fault+tcp:tcp", "fault+tcp:tcp");
	for (i = 0; i < 200; i++) {
		uint64_t deadline = clock_after_ms(20000);

		ck_assert_int_eq(
			pthread_create(&thread, NULL, wakes, rig->sctx), 0);
		while (rpc_ctx_progress(rig->sctx, deadline))
			;
		ck_assert_uint_lt(clock_now(), deadline);
		pthread_join(thread, NULL);
		if (i == 100)
			both_ways();
	}
	finish();
}
END_TEST

static bool here(const char *host)
{
	struct host_addrs hosts = { .n = 1 };

	snprintf(hosts.host[0], sizeof(hosts.host[0]), "%s", host);
	return fabric_here(&hosts);
}

START_TEST(options)
{
	const struct tp_dev_attr attr = { 0 };
	struct fabric f;
	char text[256];

	ck_assert(fabric_option_ok(NULL) && fabric_option_ok("auto"));
	ck_assert(fabric_option_ok("strict:local"));
	ck_assert(fabric_option_ok("verbs:tcp"));
	ck_assert(!fabric_option_ok("strict:"));
	ck_assert(!fabric_option_ok("strict:verbs:tcp"));
	ck_assert(!fabric_option_ok("tcp:"));
	ck_assert(!fabric_option_ok("TCP"));
	ck_assert(!fabric_option_ok("a:b:c:d:e"));
	ck_assert_int_eq(fabric_open(&f, "pvfs", "none:tcp", &attr), 0);
	ck_assert_str_eq(fabric_text(&f, text, sizeof(text)),
			 "tcp; none: not in this build");
	fabric_close(&f);
	ck_assert_int_eq(fabric_open(&f, "tcp", "auto", &attr), 0);
	ck_assert_uint_eq(f.rails.n, 1);
	fabric_close(&f);
	ck_assert_int_eq(fabric_open(&f, "tcp", "strict:none", &attr), -EINVAL);
	ck_assert_int_eq(fabric_open(&f, "pvfs", "strict:none", &attr),
			 -EPROTONOSUPPORT);
	ck_assert(here("127.0.0.1") && here("127.0.0.2"));
	ck_assert(!here("192.0.2.1"));
}
END_TEST

static void count_line(void *arg, enum log_level level, const char *msg)
{
	unsigned int *lines = arg;

	(*lines)++;
}

/* For the scheme of an address, a strict choice, and one of several. */
START_TEST(one_line_says_that_none_is_there)
{
	static const char *const cases[][2] = {
		{ "none", "auto" },
		{ "pvfs", "none" },
		{ "pvfs", "strict:none" },
		{ "pvfs", "none:neither" },
	};
	unsigned int lines = 0;
	const struct log log = { LOG_LV_ERROR, count_line, &lines };
	const struct tp_dev_attr attr = { .log = &log };
	struct fabric f;

	ck_assert_int_eq(fabric_open(&f, cases[_i][0], cases[_i][1], &attr),
			 -EPROTONOSUPPORT);
	ck_assert_uint_eq(lines, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rpc_rails");
	TCase *tcase = tcase_create("rails");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, the_first_rail_that_answers);
	tcase_add_test(tcase, the_next_one_when_it_is_refused);
	tcase_add_test(tcase, the_next_one_when_nobody_answers_there);
	tcase_add_test(tcase, a_call_moves_to_the_other_rail);
	tcase_add_test(tcase, strict_stays_where_it_is);
	tcase_add_test(tcase, a_refusal_ends_the_choice);
	tcase_add_test(tcase, no_memory_for_keys);
	tcase_add_test(tcase, each_server_begins_elsewhere);
	tcase_add_test(tcase, the_next_device_takes_over);
	tcase_add_test(tcase, all_devices_gone);
	tcase_add_test(tcase, two_rails_are_heard);
	tcase_add_test(tcase, wakes_reach_every_sleep);
	tcase_add_test(tcase, options);
	tcase_add_loop_test(tcase, one_line_says_that_none_is_there, 0, 4);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
