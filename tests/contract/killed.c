/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * killed.c - the peer is a child process that is killed during a transfer or while idle. The child
 * opens its device after the fork, and does not use Check.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/contract/contract.h"

#define LEN (16u << 20)
#define ALL (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)

/* The child sends this to its parent. */
struct offer {
	struct addr addr;
	uint64_t base;
	uint32_t rkey;
};

struct child {
	struct tp_dev *dev;
	struct tp_cq *cq;
	struct tp_ep *ep;
	struct tp_mr *mr;
	struct tp_listener *listener;
};

static int child_open(struct child *c, struct offer *offer)
{
	struct tp_dev_attr attr = { 0 };
	struct addr any = { .host = "127.0.0.1" };
	void *p = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (p == MAP_FAILED)
		return -errno;
	rc = tp_dev_open(contract_provider(), &attr, &c->dev);
	if (!rc)
		rc = tp_mr_reg(c->dev, p, LEN, ALL, &c->mr);
	if (!rc)
		rc = tp_cq_open(c->dev, 1024, &c->cq);
	if (!rc)
		rc = tp_listen(c->cq, &any, 4, &c->listener);
	if (rc)
		return rc;
	memset(offer, 0, sizeof(*offer));
	tp_listener_addr(c->listener, &offer->addr);
	offer->base = (uintptr_t)p;
	offer->rkey = c->mr->rkey;
	return 0;
}

static int child_accept(struct child *c, const struct tp_event *ev)
{
	struct tp_ep_attr none = { 0 };
	struct tp_recv_wr wr = { 1, { c->mr->addr, 64, c->mr->lkey } };
	int i, rc;

	rc = tp_ep_open(c->cq, &none, &c->ep);
	for (i = 0; !rc && i < 64; i++)
		rc = tp_post_recv(c->ep, &wr);
	return rc ? rc : tp_accept(c->ep, ev->req, NULL, 0);
}

/* Serves one connection until it is killed. */
static int child_run(int out)
{
	struct child c = { 0 };
	struct tp_event ev;
	struct offer offer;
	struct tp_wc wc;
	int rc = child_open(&c, &offer);

	if (!rc && write(out, &offer, sizeof(offer)) != sizeof(offer))
		rc = -EPIPE;
	while (!rc) {
		tp_cq_wait(c.cq, clock_after_ms(1000));
		tp_cq_poll(c.cq, &wc, 1);
		if (tp_cq_event(c.cq, &ev) == 1 &&
		    ev.type == TP_EV_CONNECT_REQUEST)
			rc = child_accept(&c, &ev);
	}
	return rc;
}

static pid_t fork_peer(struct offer *offer)
{
	int fd[2];
	pid_t pid;

	ck_ok(pipe(fd));
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(2 * PATIENCE_MS / 1000);
		close(fd[0]);
		_exit(child_run(fd[1]) ? 1 : 0);
	}
	ck_assert_int_gt(pid, 0);
	close(fd[1]);
	ck_assert_int_eq(read(fd[0], offer, sizeof(*offer)), sizeof(*offer));
	close(fd[0]);
	return pid;
}

/* Polls one side until it has nwc completions and nev events; the other side is gone. */
static void pump_until(struct side *s, unsigned int nwc, unsigned int nev)
{
	uint64_t deadline = clock_after_ms(PATIENCE_MS);

	while (s->nwc < nwc || s->nev < nev) {
		ck_assert_uint_lt(clock_now(), deadline);
		if (!side_pump(s))
			tp_cq_wait(s->cq, clock_after_ms(10));
	}
}

static void open_to(struct side *s, const struct offer *offer,
		    struct tp_ep **ep)
{
	struct tp_ep_attr none = { 0 };
	struct tp_event ev;

	side_open(s, contract_provider(), 1024);
	ck_ok(tp_ep_open(s->cq, &none, ep));
	ck_ok(tp_connect(*ep, &offer->addr, NULL, 0,
			 clock_after_ms(PATIENCE_MS)));
	pump_until(s, 0, 1);
	ck_assert(side_find_ev(s, *ep, &ev));
	ck_assert_int_eq(ev.type, TP_EV_ESTABLISHED);
}

/* Posts 20 large transfers and a receive. */
static void post_work(struct side *s, struct tp_ep *ep,
		      const struct offer *offer, enum tp_opcode op)
{
	struct mem *m = mem_new(s, LEN, ALL);
	struct tp_sge sge = sge_of(m, 0, LEN);
	struct tp_send_wr wr = wr_rdma(op, 0, &sge, NULL, 0);

	side_recv(ep, 99, m, 0, 64);
	wr.remote_addr = offer->base;
	wr.rkey = offer->rkey;
	for (; wr.wr_id < 20; wr.wr_id++)
		ck_ok(tp_post_send(ep, &wr));
}

/* Checks that all 21 requests completed, the transfers in order, and the last one with an error. */
static void check_ends(struct side *s, enum tp_opcode op)
{
	unsigned int i, next = 0;
	bool flushed = false;
	int last = 0;

	for (i = 0; i < 21; i++) {
		if (s->wc[i].opcode == TP_RECV) {
			ck_assert_int_eq(s->wc[i].status, -ECANCELED);
			flushed = true;
			continue;
		}
		ck_assert_int_eq(s->wc[i].opcode, op);
		ck_assert_uint_eq(s->wc[i].wr_id, next++);
		ck_assert(last == 0 || s->wc[i].status < 0);
		last = s->wc[i].status;
	}
	ck_assert(flushed);
	ck_assert_int_lt(last, 0);
}

START_TEST(in_transfer)
{
	enum tp_opcode op = _i % 2 ? TP_READ : TP_WRITE;
	bool stop_first = _i / 2;
	static struct side s;
	struct offer offer;
	struct tp_event ev;
	struct tp_ep *ep;
	pid_t pid = fork_peer(&offer);

	open_to(&s, &offer, &ep);
	if (stop_first)
		ck_ok(kill(pid, SIGSTOP));
	post_work(&s, ep, &offer, op);
	if (stop_first)
		side_pump(&s);
	else
		pump_until(&s, 1, 0);
	ck_ok(kill(pid, SIGKILL));
	pump_until(&s, 21, 1);
	check_ends(&s, op);
	ck_assert(side_find_ev(&s, ep, &ev));
	ck_assert_int_eq(ev.type, TP_EV_DISCONNECTED);
	ck_assert_int_eq(s.nwc, 21);
	tp_ep_close(ep);
	side_close(&s);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* Nothing is in flight: the end is noticed all the same. */
START_TEST(idle)
{
	static struct side s;
	struct offer offer;
	struct tp_event ev;
	struct tp_ep *ep;
	pid_t pid = fork_peer(&offer);

	open_to(&s, &offer, &ep);
	ck_ok(kill(pid, SIGKILL));
	pump_until(&s, 0, 1);
	ck_assert(side_find_ev(&s, ep, &ev));
	ck_assert_int_eq(ev.type, TP_EV_DISCONNECTED);
	tp_ep_close(ep);
	side_close(&s);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

TCase *case_killed(void)
{
	TCase *tc = contract_bare_case("killed");

	tcase_add_loop_test(tc, in_transfer, 0, 4);
	tcase_add_test(tc, idle);
	return tc;
}
