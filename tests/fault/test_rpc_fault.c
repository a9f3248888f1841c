/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_fault.c - calls over a faulty transport: each kind of fault hits each operation in turn,
 * and every call is executed once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/fault/fault.h"
#include "tests/unit/key_rig.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

#define PART 150000u

static struct rig *rig;
static struct keyring *ring; /* both ends prove their identity, or NULL */
static uint8_t *buf;
static struct tp_mr *mr;

static void setup(void)
{
	rig = calloc(1, sizeof(*rig));
	rig->prover = rig->sattr.prover = keyring_prover(ring);
	rig->role = ring ? WIRE_ROLE_MGR : WIRE_ROLE_CLIENT;
	rig->sattr.role = WIRE_ROLE_IOD;
	rig_open(rig, "fault+tcp");
	buf = malloc(RIG_OBJECT);
	ck_assert_int_eq(tp_mr_reg(rig->dev, buf, RIG_OBJECT,
				   TP_REMOTE_READ | TP_REMOTE_WRITE, &mr),
			 0);
}

static void teardown(void)
{
	fault_set(rig->dev, "", NULL, 0);
	tp_mr_dereg(mr);
	free(buf);
	rig_close(rig);
}

static void fill(uint8_t *at, uint32_t seed)
{
	for (size_t i = 0; i < PART; i++)
		at[i] = (uint8_t)((i + seed) * 2654435761u >> 13);
}

static void calls(unsigned int what)
{
	static struct rig_call c[6];
	int i;

	fill(buf, 1);
	fill(buf + PART, 2);
	fill(rig->object + 2 * PART, 3);
	rig_append(rig, &c[0], 1, 9000);
	rig_io(rig, &c[1], WIRE_WRITE, 0, buf, PART, mr, 5, 9000);
	rig_io(rig, &c[2], WIRE_READ, 2 * PART, buf + 2 * PART, PART, mr, 3,
	       9000);
	rig_append(rig, &c[3], 10, 9000);
	rig_io(rig, &c[4], WIRE_WRITE, PART, buf + PART, 60000, NULL, 6, 9000);
	rig_append(rig, &c[5], 100, 9000);
	for (i = 0; i < 6; i++) {
		rig_until(rig, c[i].finished);
		ck_assert_msg(!c[i].call.status, "fault %u call %d: %s\n%s",
			      what, i, strerror(-c[i].call.status), rig->text);
		ck_assert_uint_eq(c[i].times, 1);
	}
	ck_assert_int_eq(memcmp(buf, rig->object, PART + 60000), 0);
	ck_assert_int_eq(memcmp(buf + 2 * PART, rig->object + 2 * PART, PART),
			 0);
	memset(buf, 0, 3 * PART);
	memset(rig->object, 0, 3 * PART);
}

/* The rule hits operation 0, 1, 2, ... until none is hit. */
static void sweep(struct fault_rule rule, unsigned int atleast)
{
	unsigned int n, hits = 0;
	int id;

	for (n = 0;; n++) {
		setup();
		rule.after = n;
		id = fault_add(rig->dev, &rule);
		ck_assert_int_gt(id, 0);
		calls(n);
		calls(n);
		ck_assert_msg(rig->counter == 222, "fault %u: %lu\n%s", n,
			      (unsigned long)rig->counter, rig->text);
		hits = (unsigned int)fault_hits(rig->dev, id);
		teardown();
		if (!hits)
			break;
	}
	ck_assert_uint_ge(n, atleast);
}

START_TEST(reset_of_posts)
{
	sweep((struct fault_rule){ .ops = FAULT_POST, .action = FAULT_RESET },
	      20);
}
END_TEST

START_TEST(reset_of_receives)
{
	sweep((struct fault_rule){ .ops = FAULT_RECV, .action = FAULT_RESET },
	      14);
}
END_TEST

START_TEST(vanishing)
{
	sweep((struct fault_rule){ .ops = FAULT_POST,
				   .action = FAULT_VANISH,
				   .ms = 5 },
	      20);
}
END_TEST

START_TEST(failing_posts)
{
	sweep((struct fault_rule){ .ops = FAULT_POST, .action = FAULT_FAIL },
	      20);
}
END_TEST

START_TEST(failing_receives)
{
	sweep((struct fault_rule){ .ops = FAULT_POST_RECV,
				   .action = FAULT_FAIL },
	      20);
}
END_TEST

START_TEST(failing_registrations)
{
	sweep((struct fault_rule){ .ops = FAULT_MR_REG, .action = FAULT_FAIL },
	      2);
}
END_TEST

START_TEST(delays)
{
	sweep((struct fault_rule){ .ops = FAULT_POST,
				   .action = FAULT_DELAY,
				   .ms = 3 },
	      20);
}
END_TEST

START_TEST(connecting)
{
	sweep((struct fault_rule){ .ops = FAULT_CONNECT | FAULT_ACCEPT,
				   .action = FAULT_REFUSE,
				   .count = 4 },
	      1);
	sweep((struct fault_rule){ .ops = FAULT_CONNECT, .action = FAULT_FAIL },
	      1);
}
END_TEST

/* Breaks at each step of a handshake with proofs: at worst the client connects again. */
START_TEST(proved)
{
	struct key_rig file;

	key_rig_open(&file);
	ring = key_rig_ring(&file, KEY_A "\n");
	key_rig_close(&file);
	sweep((struct fault_rule){ .ops = FAULT_POST, .action = FAULT_RESET },
	      20);
	sweep((struct fault_rule){ .ops = FAULT_RECV, .action = FAULT_RESET },
	      14);
	keyring_close(ring);
	ring = NULL;
}
END_TEST

/* Every fiftieth message breaks the connection, for a while. */
START_TEST(again_and_again)
{
	struct fault_rule rule = { .ops = FAULT_POST | FAULT_RECV,
				   .action = FAULT_RESET,
				   .every = 50,
				   .count = FAULT_ALWAYS };
	int i, id;

	setup();
	id = fault_add(rig->dev, &rule);
	for (i = 0; i < 40; i++)
		calls(i);
	ck_assert_uint_eq(rig->counter, 111 * 40);
	ck_assert_uint_gt(fault_hits(rig->dev, id), 3);
	ck_assert_uint_eq(rig_logged(rig, "trying again"),
			  rig_logged(rig, " again after"));
	teardown();
}
END_TEST

/*
 * A client sends requests without end and reads only the first replies.  At some point the server
 * stops reading from it, and others continue.
 */
START_TEST(never_reads)
{
	struct raw raw;
	uint64_t seq = 0, stuck = 0;

	setup();
	raw_open(&raw, rig, 0x77, 1);
	raw_greet(&raw);
	while (!raw.disconnected && !stuck) {
		uint64_t end = clock_after_ms(300);
		unsigned int turns = 0;

		ck_assert_uint_lt(seq, 100000);
		raw_send(&raw, raw_readlink(&raw, 0, ++seq));
		while (raw.sent <= seq && !raw.disconnected && !stuck) {
			raw_turn(&raw);
			/* and not because this thread had no processor */
			stuck = ++turns > 100 && clock_now() > end;
		}
	}
	ck_assert_uint_eq(raw.received, RAW_RECVS);
	rig->counter = 0;
	calls(0);
	ck_assert_uint_eq(rig->counter, 111);
	raw_close(&raw);
	teardown();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_fault");
	TCase *tc = tcase_create("faults");

	tcase_set_timeout(tc, 100);
	tcase_add_test(tc, reset_of_posts);
	tcase_add_test(tc, reset_of_receives);
	tcase_add_test(tc, vanishing);
	tcase_add_test(tc, failing_posts);
	tcase_add_test(tc, failing_receives);
	tcase_add_test(tc, failing_registrations);
	tcase_add_test(tc, delays);
	tcase_add_test(tc, connecting);
	tcase_add_test(tc, proved);
	tcase_add_test(tc, again_and_again);
	tcase_add_test(tc, never_reads);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
