/* SPDX-License-Identifier: BSD-2-Clause */
/* test_local_dereg.c - deregistration during copies of a peer. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/rig_check.h"
#include "tests/run_suite.h"

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
	uint64_t addr; /* address of the target */
	uint32_t rkey;
	atomic_bool stop;
	unsigned int done;
};

/* Writes to the same place until a write is rejected. */
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
	/* the next try notices it */
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

/* ---- a peer that stops during a copy ---- */

static uint8_t mem[64];

/* A deregistration in a thread of its own. */
struct ending {
	struct tp_mr *mr;
	pthread_t thread;
	atomic_bool over;
};

static void *end_it(void *arg)
{
	struct ending *e = arg;

	tp_mr_dereg(e->mr);
	atomic_store(&e->over, true);
	return NULL;
}

static void end_begin(struct ending *e, struct tp_mr *m)
{
	e->mr = m;
	atomic_init(&e->over, false);
	ck_assert_int_eq(pthread_create(&e->thread, NULL, end_it, e), 0);
}

static void end_wait(struct ending *e)
{
	until(atomic_load(&e->over));
	pthread_join(e->thread, NULL);
}

/* Checks that the deregistration still waits.  It may miss an error, but reports no false one. */
static void end_still_waits(struct ending *e)
{
	const struct timespec while_ = { .tv_nsec = 200000000 };

	nanosleep(&while_, NULL);
	ck_assert(!atomic_load(&e->over));
}

static struct tp_mr *go_inside(struct raw *raw)
{
	struct tp_mr *m;

	ck_assert_int_eq(raw_open(&rig, raw, mr, LEN, RECVS), 0);
	ck_assert_int_eq(tp_mr_reg(rig.dev, mem, sizeof(mem), ALL, &m), 0);
	atomic_store(&raw->out.me->key[0], m->rkey);
	atomic_store(&raw->out.me->nkeys, 1);
	atomic_store(&raw->out.me->busy, 1);
	return m;
}

static void go_out(struct raw *raw)
{
	atomic_store(&raw->out.me->busy, 2);
}

static void leave(struct raw *raw)
{
	raw_close(raw);
	if (!rig.ep)
		return;
	until(rig.gone);
	rig_forget_ep(&rig);
}

/* Deregistration waits for a peer inside a copy, however long, because the peer may write. */
START_TEST(who_is_inside_is_waited_for)
{
	struct ending e;
	struct raw raw;

	end_begin(&e, go_inside(&raw));
	end_still_waits(&e);
	go_out(&raw);
	end_wait(&e);
	leave(&raw);
}
END_TEST

/* It also waits after our end of the connection was closed. */
START_TEST(who_is_inside_behind_a_close)
{
	struct ending e;
	struct raw raw;
	struct tp_mr *m = go_inside(&raw);

	rig_forget_ep(&rig);
	ck_assert_uint_eq(atomic_load(&raw.in.peer->ended), 1);
	end_begin(&e, m);
	end_still_waits(&e);
	go_out(&raw);
	end_wait(&e);
	leave(&raw);
}
END_TEST

START_TEST(who_ended_is_outside)
{
	struct ending e;
	struct raw raw;

	end_begin(&e, go_inside(&raw));
	raw_close(&raw);
	end_wait(&e);
	until(rig.gone);
	rig_forget_ep(&rig);
}
END_TEST

START_TEST(who_ended_behind_a_close_is_outside)
{
	struct ending e;
	struct raw raw;
	struct tp_mr *m = go_inside(&raw);

	rig_forget_ep(&rig);
	end_begin(&e, m);
	raw_close(&raw);
	end_wait(&e);
}
END_TEST

/* It does not wait for a peer that copies to other memory, as for another call. */
START_TEST(who_is_elsewhere_is_not_waited_for)
{
	static uint8_t other[64];
	struct ending e, inside;
	struct raw raw;
	struct tp_mr *m = go_inside(&raw), *free_one;

	ck_assert_int_eq(tp_mr_reg(rig.dev, other, 64, ALL, &free_one), 0);
	end_begin(&e, free_one);
	end_wait(&e);
	go_out(&raw);
	end_begin(&inside, m);
	end_wait(&inside);
	leave(&raw);
}
END_TEST

/* After the deregistration, the connection has no access to the memory. */
START_TEST(nobody_goes_in_behind_the_end)
{
	struct tp_sge sge = { mr->addr, 8, mr->lkey };
	struct tp_send_wr wr = { .opcode = TP_WRITE,
				 .sgl = &sge,
				 .nsge = 1,
				 .remote_addr = (uintptr_t)mem };
	struct local_ep *ep;
	struct tp_mr *m;
	struct raw raw;

	memset(mem, 1, sizeof(mem));
	memset(mr->addr, 2, 8);
	ck_assert_int_eq(raw_open(&rig, &raw, mr, LEN, RECVS), 0);
	ck_assert_int_eq(tp_mr_reg(rig.dev, mem, sizeof(mem), ALL, &m), 0);
	wr.rkey = m->rkey;
	ck_assert_int_eq(tp_post_send(rig.ep, &wr), 0);
	ep = container_of(rig.ep, struct local_ep, ep);
	atomic_store(&raw.out.me->ended, 1);
	ck_assert_int_eq(local_reach_copy(ep, 8), -ECANCELED);
	ck_assert_uint_eq(mem[0], 1);
	atomic_store(&raw.out.me->ended, 0);
	ck_assert_int_eq(local_reach_copy(ep, 8), 8);
	ck_assert_uint_eq(mem[0], 2);
	tp_mr_dereg(m);
	leave(&raw);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_dereg");
	TCase *tc = tcase_create("peer");

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, dereg_under_copies);
	tcase_add_test(tc, who_is_inside_is_waited_for);
	tcase_add_test(tc, who_is_inside_behind_a_close);
	tcase_add_test(tc, who_ended_is_outside);
	tcase_add_test(tc, who_ended_behind_a_close_is_outside);
	tcase_add_test(tc, who_is_elsewhere_is_not_waited_for);
	tcase_add_test(tc, nobody_goes_in_behind_the_end);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
