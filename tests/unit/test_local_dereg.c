/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_dereg.c - deregistration against a peer's copies under way.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "rig_check.h"
#include "run_suite.h"

#define LEN 256u
#define RECVS 4u
#define ALL (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)
#define PATIENCE_MS 20000u

static struct local_rig rig;
static struct tp_mr *mr;
static uint8_t buf[RECVS * LEN];

#define until(cond) rig_until(&rig, mr, LEN, RECVS, PATIENCE_MS, cond)

static void setup(void)
{
	rig_start(&rig, buf, RECVS * LEN, ALL, &mr);
}

static void teardown(void)
{
	rig_end(&rig, mr);
}

enum { PIECE = 1 << 20 };

struct pusher {
	struct tp_dev *dev;
	struct tp_cq *cq;
	struct tp_ep *ep;
	struct tp_mr *mr;
	uint8_t *mem;
	uint64_t addr; /* of the target */
	uint32_t rkey;
	atomic_bool stop;
	unsigned int done;
};

/* Writes to the same place until it is refused. */
static void *push(void *arg)
{
	struct pusher *p = arg;
	struct tp_sge sge = { p->mem, PIECE, p->mr->lkey };
	struct tp_send_wr wr = { .opcode = TP_WRITE,
				 .flags = TP_SIGNALED,
				 .sgl = &sge,
				 .nsge = 1,
				 .remote_addr = p->addr,
				 .rkey = p->rkey };
	struct tp_wc wc = { 0 };

	while (!atomic_load(&p->stop) && wc.status == 0) {
		if (tp_post_send(p->ep, &wr))
			break;
		while (!tp_cq_poll(p->cq, &wc, 1))
			tp_cq_wait(p->cq, CLOCK_NEVER);
		p->done += wc.status == 0;
	}
	return NULL;
}

static void pusher_open(struct pusher *p)
{
	struct tp_event ev;

	memset(p, 0, sizeof(*p));
	p->mem = malloc(PIECE);
	memset(p->mem, 0xff, PIECE);
	ck_assert_int_eq(tp_dev_open("local", NULL, &p->dev), 0);
	ck_assert_int_eq(tp_cq_open(p->dev, 512, &p->cq), 0);
	ck_assert_int_eq(tp_mr_reg(p->dev, p->mem, PIECE, 0, &p->mr), 0);
	ck_assert_int_eq(tp_ep_open(p->cq, NULL, &p->ep), 0);
	ck_assert_int_eq(tp_connect(p->ep, &rig.addr, NULL, 0, CLOCK_NEVER), 0);
	until(tp_cq_poll(p->cq, &(struct tp_wc){ 0 }, 1) == 0 &&
	      tp_cq_event(p->cq, &ev) == 1);
	ck_assert_int_eq(ev.type, TP_EV_ESTABLISHED);
}

static void pusher_close(struct pusher *p)
{
	tp_ep_close(p->ep);
	tp_mr_dereg(p->mr);
	tp_cq_close(p->cq);
	tp_dev_close(p->dev);
	free(p->mem);
}

static void dereg_round(int round)
{
	static uint8_t target[PIECE];
	struct pusher p;
	struct tp_mr *there;
	pthread_t thread;
	int i;

	pusher_open(&p);
	ck_assert_int_eq(
		tp_mr_reg(rig.dev, target, PIECE, TP_REMOTE_WRITE, &there), 0);
	p.addr = (uintptr_t)target;
	p.rkey = there->rkey;
	ck_assert_int_eq(pthread_create(&thread, NULL, push, &p), 0);
	for (i = 0; i < round * 3; i++)
		local_rig_turn(&rig, mr, LEN, 0);
	tp_mr_dereg(there);
	memset(target, 0, PIECE);
	/* the next try finds out */
	until(rig.gone);
	pthread_join(thread, NULL);
	for (i = 0; i < PIECE && target[i] == 0; i++)
		;
	ck_assert_int_eq(i, PIECE);
	ck_assert_int_eq(rig.last.status, -EACCES);
	rig_forget_ep(&rig);
	pusher_close(&p);
}

START_TEST(dereg_under_copies)
{
	int i;

	for (i = 0; i < 30; i++)
		dereg_round(i);
}
END_TEST

/* A peer that stands still inside is not waited for without end. */
START_TEST(dereg_is_bounded)
{
	static uint8_t mem[64];
	uint64_t start;
	struct raw raw;
	struct tp_mr *m;

	ck_assert_int_eq(raw_open(&rig, &raw, mr, LEN, RECVS), 0);
	start = clock_now();
	local_dev(rig.dev)->dead_peer_ms = 100;
	ck_assert_int_eq(tp_mr_reg(rig.dev, mem, 64, ALL, &m), 0);
	atomic_store(&raw.out.me->busy, 1);
	tp_mr_dereg(m);
	ck_assert_uint_ge(clock_now() - start, 100 * CLOCK_NS_PER_MS);
	/* nor for one that has left */
	local_dev(rig.dev)->dead_peer_ms = 1000 * PATIENCE_MS;
	ck_assert_int_eq(tp_mr_reg(rig.dev, mem, 64, ALL, &m), 0);
	raw_close(&raw);
	tp_mr_dereg(m);
	until(rig.gone);
	rig_forget_ep(&rig);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_dereg");
	TCase *tc = tcase_create("peer");

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, dereg_under_copies);
	tcase_add_test(tc, dereg_is_bounded);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
