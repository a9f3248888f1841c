/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_rma.c - one-sided access to words of a server: the result of each access, and what the
 * client knows about it after the server took the word back, the connection was lost, or the
 * deadline passed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"

#define MANY 16u /* REACHES */

struct access {
	struct rpc_rma rma;
	bool finished;
	uint64_t value;
};

static struct rig *rig;
static struct tp_mr *mr;
static uint64_t *word;

static void lend(void)
{
	ck_assert_int_eq(tp_mr_reg(rig->dev, word, 2 * sizeof(*word),
				   TP_REMOTE_READ | TP_REMOTE_ATOMIC | TP_LENT,
				   &mr),
			 0);
}

static void setup(void)
{
	rig = calloc(1, sizeof(*rig));
	rig_open(rig, "tcp");
	word = aligned_alloc(64, 64);
	word[0] = 40;
	word[1] = ~word[0];
	lend();
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
}

static void teardown(void)
{
	if (mr)
		tp_mr_dereg(mr);
	mr = NULL;
	rig_close(rig);
	free(word);
}

static void done(struct rpc_rma *rma)
{
	struct access *a = rma->arg;

	ck_assert(!a->finished);
	a->finished = true;
	if (!rma->status)
		memcpy(&a->value, rma->data, sizeof(a->value));
}

static int start(struct access *a, enum tp_opcode op, uint64_t add,
		 unsigned int ms)
{
	*a = (struct access){
		.rma = { .op = op,
			 .addr = (uintptr_t)word,
			 .rkey = mr ? mr->rkey : 0,
			 .term = rpc_peer_term(rig->peer),
			 .len = sizeof(*word),
			 .add = add,
			 .deadline = clock_after_ms(ms),
			 .done = done },
	};
	a->rma.arg = a;
	return rpc_rma_start(rig->peer, &a->rma);
}

static void begin(struct access *a, enum tp_opcode op, uint64_t add)
{
	ck_assert_int_eq(start(a, op, add, RIG_PATIENCE_MS), 0);
}

static int end(struct access *a)
{
	rig_until(rig, a->finished);
	return a->rma.status;
}

START_TEST(reads_and_adds)
{
	uint64_t requests;
	struct rpc_server_stats st;
	struct access a;

	rpc_server_stats(rig->server, &st);
	requests = st.requests;
	begin(&a, TP_FETCH_ADD, 2);
	ck_assert_int_eq(end(&a), 0);
	ck_assert_uint_eq(a.value, 40);
	begin(&a, TP_READ, 0);
	ck_assert_int_eq(end(&a), 0);
	ck_assert_uint_eq(a.value, 42);
	rpc_server_stats(rig->server, &st);
	ck_assert_uint_eq(st.requests, requests);
}
END_TEST

START_TEST(many_at_once)
{
	struct access a[MANY], more;
	unsigned int i;

	for (i = 0; i < MANY; i++)
		begin(&a[i], TP_FETCH_ADD, 1);
	ck_assert_int_eq(start(&more, TP_FETCH_ADD, 1, 5000), -EBUSY);
	for (i = 0; i < MANY; i++) {
		ck_assert_int_eq(end(&a[i]), 0);
		ck_assert_uint_eq(a[i].value, 40 + i);
	}
	begin(&more, TP_FETCH_ADD, 1);
	ck_assert_int_eq(end(&more), 0);
	ck_assert_uint_eq(more.value, 40 + MANY);
}
END_TEST

/* Later accesses are not executed either; calls of the connection are repeated. */
START_TEST(taken_back)
{
	struct access a, b, before;
	struct rig_call c;

	begin(&before, TP_FETCH_ADD, 1);
	ck_assert_int_eq(end(&before), 0);
	tp_mr_dereg(mr);
	begin(&a, TP_FETCH_ADD, 1);
	begin(&b, TP_FETCH_ADD, 1);
	rig_append(rig, &c, 5, RIG_PATIENCE_MS);
	ck_assert_int_eq(end(&a), -EACCES);
	ck_assert_int_eq(end(&b), -EACCES);
	ck_assert_uint_eq(*word, 41);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_uint_eq(c.offset, 1);
	lend();
	begin(&a, TP_FETCH_ADD, 1);
	ck_assert_int_eq(end(&a), 0);
	ck_assert_uint_eq(a.value, 41);
}
END_TEST

/* Addresses from an earlier connection are not used on this one. */
START_TEST(of_an_earlier_connection)
{
	uint32_t term = rpc_peer_term(rig->peer);
	struct access a;

	begin(&a, TP_FETCH_ADD, 1);
	rig_server_close(rig);
	ck_assert_int_eq(end(&a), -ECONNABORTED);
	ck_assert_int_eq(start(&a, TP_FETCH_ADD, 1, 5000), -ESTALE);
	rig_server_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, RIG_PATIENCE_MS), 0);
	ck_assert_uint_ne(rpc_peer_term(rig->peer), term);
	a.rma.term = term;
	ck_assert_int_eq(rpc_rma_start(rig->peer, &a.rma), -ESTALE);
	begin(&a, TP_READ, 0);
	ck_assert_int_eq(end(&a), 0);
}
END_TEST

/* The place of an access is not reused before its result has arrived. */
START_TEST(too_late)
{
	struct access late, a[MANY];
	unsigned int i;

	ck_assert_int_eq(start(&late, TP_FETCH_ADD, 1, 0), 0);
	while (!late.finished)
		rpc_ctx_progress(rig->cctx, clock_now() + 100000);
	ck_assert_int_eq(late.rma.status, -ETIMEDOUT);
	for (i = 0; i + 1 < MANY; i++)
		begin(&a[i], TP_READ, 0);
	ck_assert_int_eq(start(&a[i], TP_READ, 0, 5000), -EBUSY);
	for (i = 0; i + 1 < MANY; i++)
		ck_assert_int_eq(end(&a[i]), 0);
	ck_assert_uint_eq(*word, 41);
	begin(&a[0], TP_READ, 0);
	ck_assert_int_eq(end(&a[0]), 0);
}
END_TEST

START_TEST(closed)
{
	struct access a;

	begin(&a, TP_FETCH_ADD, 1);
	rpc_peer_close(rig->peer, false);
	rig->peer = NULL;
	ck_assert(a.finished);
	ck_assert_int_eq(a.rma.status, -ECONNABORTED);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_rma");
	TCase *tc = tcase_create("rma");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, reads_and_adds);
	tcase_add_test(tc, many_at_once);
	tcase_add_test(tc, taken_back);
	tcase_add_test(tc, of_an_earlier_connection);
	tcase_add_test(tc, too_late);
	tcase_add_test(tc, closed);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
