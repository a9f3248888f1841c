/* SPDX-License-Identifier: BSD-2-Clause */
/* worker.c - see worker.h. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "common/util/clock.h"
#include "tests/contract/worker.h"

#define LIFE_MS 60000u

static int echo_recv(struct echo *e, uint64_t i)
{
	struct tp_recv_wr wr = { i, { e->buf[i], ECHO_LEN, e->mr->lkey } };

	return tp_post_recv(e->ep, &wr);
}

static int echo_open(struct echo *e)
{
	struct tp_ep_attr attr = { .context = e };
	uint64_t i;
	int rc;

	rc = tp_cq_open(e->dev, 1024, &e->cq);
	if (rc)
		return rc;
	rc = tp_mr_reg(e->dev, e->buf, sizeof(e->buf), TP_LOCAL_WRITE, &e->mr);
	if (rc)
		return rc;
	rc = tp_ep_open(e->cq, &attr, &e->ep);
	for (i = 0; !rc && i < ECHO_BUFS; i++)
		rc = echo_recv(e, i);
	return rc ? rc : tp_accept(e->ep, e->req, NULL, 0);
}

static int echo_answer(struct echo *e, const struct tp_wc *wc)
{
	struct tp_sge sge = { e->buf[wc->wr_id], wc->byte_len, e->mr->lkey };
	struct tp_send_wr wr = {
		.wr_id = wc->wr_id,
		.opcode = TP_SEND,
		.flags = TP_SIGNALED,
		.sgl = &sge,
		.nsge = 1,
	};

	if (wc->status == -ECANCELED)
		return 0;
	if (wc->status)
		return wc->status;
	if (wc->opcode == TP_SEND)
		return echo_recv(e, wc->wr_id);
	e->served++;
	return tp_post_send(e->ep, &wr);
}

/* Returns 1 if the peer has disconnected. */
static int echo_progress(struct echo *e)
{
	struct tp_event ev;
	struct tp_wc wc;
	int rc;

	while (tp_cq_poll(e->cq, &wc, 1) == 1) {
		rc = echo_answer(e, &wc);
		if (rc && rc != -ENOTCONN)
			return rc;
	}
	while (tp_cq_event(e->cq, &ev) == 1) {
		if (ev.type == TP_EV_DISCONNECTED)
			return ev.status ? ev.status : 1;
		if (ev.type != TP_EV_ESTABLISHED || ev.ep != e->ep)
			return -EPROTO;
	}
	tp_cq_wait(e->cq, clock_after_ms(1000));
	return 0;
}

static void *echo_run(void *arg)
{
	struct echo *e = arg;
	uint64_t give_up = clock_after_ms(LIFE_MS);
	int rc;

	rc = echo_open(e);
	while (rc == 0)
		rc = clock_now() < give_up ? echo_progress(e) : -ETIME;
	e->error = rc == 1 ? 0 : rc;
	if (e->ep)
		tp_ep_close(e->ep);
	if (e->mr)
		tp_mr_dereg(e->mr);
	if (e->cq)
		tp_cq_close(e->cq);
	return NULL;
}

int echo_start(struct echo *e, struct tp_dev *dev, struct tp_conn_req *req)
{
	memset(e, 0, sizeof(*e));
	e->dev = dev;
	e->req = req;
	return -pthread_create(&e->thread, NULL, echo_run, e);
}

int echo_join(struct echo *e)
{
	pthread_join(e->thread, NULL);
	return e->error;
}

static void *looper_run(void *arg)
{
	struct looper *l = arg;

	while (!l->error && !__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)) {
		l->error = l->step(l->arg);
		l->rounds++;
	}
	return NULL;
}

int looper_start(struct looper *l, int (*step)(void *arg), void *arg)
{
	memset(l, 0, sizeof(*l));
	l->step = step;
	l->arg = arg;
	return -pthread_create(&l->thread, NULL, looper_run, l);
}

int looper_stop(struct looper *l)
{
	__atomic_store_n(&l->stop, 1, __ATOMIC_RELEASE);
	pthread_join(l->thread, NULL);
	return l->error;
}
