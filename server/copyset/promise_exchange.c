/* SPDX-License-Identifier: BSD-2-Clause */
/* promise_exchange.c - see promise_exchange.h. */
#include "server/copyset/promise_exchange.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/copyset/assignments.h"
#include "server/state/iod_peers.h"

/* The calls to another iod, one at a time. */
struct promise_call {
	struct promise_exchange *exchange;
	uint32_t to;
	bool busy;
	bool again; /* ask once more when the call ends */
	uint32_t next; /* first copyset of the next message; 0: there is none */
	struct promise_head head;
	struct rpc_call call;
	uint8_t msg[sizeof(struct wire_hdr) + sizeof(struct wire_promise) +
		    WIRE_PROMISES_MAX * sizeof(struct wire_promised)]
		__attribute__((aligned(8)));
};

struct promise_exchange {
	struct worker *worker;
	struct rpc_timer timer;
	struct mailbox_item mail;
	atomic_bool posted; /* mail was posted and not yet delivered */
	uint32_t niods;
	struct promise_call *call[]; /* of each iod; NULL: not asked yet */
};

/* ---- messages ---- */

static void list_to_wire(const struct promise *list, uint32_t n,
			 struct wire_promised *to)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = (struct wire_promised){
			.copyset = htole32(list[i].copyset),
			.version = htole32(list[i].version),
			.flags = htole32(list[i].lent ? WIRE_PR_LENT : 0)
		};
}

/* Returns the number of entries, which is at most WIRE_PROMISES_MAX. */
static uint32_t list_from_wire(const struct wire_msg *msg, struct promise *list)
{
	const struct wire_promise *body = msg->body;
	const struct wire_promised *from = msg->tail[0].ptr;
	uint32_t n = le32toh(body->n);

	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct promise){ .copyset = le32toh(from[i].copyset),
					    .version = le32toh(from[i].version),
					    .lent = le32toh(from[i].flags) &
						    WIRE_PR_LENT };
	return n;
}

/* ---- at the primary ---- */

static struct iod *iod_of(const struct promise_call *c)
{
	return c->exchange->worker->iod;
}

static size_t build_message(struct promise_call *c, const struct promise *list,
			    uint32_t n)
{
	struct wire_promised promised[WIRE_PROMISES_MAX];
	const struct wire_promise body = {
		.process = htole64(c->head.process),
		.sent = htole64(c->head.sent),
		.lease = htole64(c->head.lease),
		.iod = htole32(iod_of(c)->conf.index),
		.n = htole32(n),
	};
	struct wire_out out;

	list_to_wire(list, n, promised);
	wire_begin(&out, c->msg, sizeof(c->msg));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, promised, n * sizeof(promised[0]));
	return (size_t)wire_end(&out, WIRE_PROMISE, 0, 0);
}

static void on_call_end(struct rpc_call *call);

/* An answer after three quarters of the lease would be of no use. */
static void send_message(struct promise_call *c, struct rpc_peer *peer,
			 const struct promise *list, uint32_t n)
{
	c->next = n == WIRE_PROMISES_MAX ? list[n - 1].copyset + 1 : 0;
	c->call = (struct rpc_call){
		.msg = c->msg,
		.msg_len = build_message(c, list, n),
		.deadline = clock_now() + c->head.lease / 4 * 3,
		.urgent = true, /* not after orders that wait for a disk */
		.quiet = true,
		.done = on_call_end,
		.arg = c
	};
	rpc_call_start(peer, &c->call);
}

/* Asks for the copysets from `first` on.  False: there are none, or no memory until next time. */
static bool ask_from(struct promise_call *c, uint32_t first)
{
	struct promise list[WIRE_PROMISES_MAX];
	struct rpc_peer *peer;
	uint32_t n = assignments_ask_promises(iod_of(c)->assignments, c->to,
					      first, &c->head, list,
					      WIRE_PROMISES_MAX);

	if (!n || iod_peer_get(c->exchange->worker, c->to, &peer))
		return false;
	send_message(c, peer, list, n);
	return true;
}

static void accept_answer(struct promise_call *c)
{
	struct promise list[WIRE_PROMISES_MAX];
	uint32_t n = list_from_wire(&c->call.reply, list);

	assignments_accept_promises(iod_of(c)->assignments, c->to, &c->head,
				    list, n);
}

static void on_call_end(struct rpc_call *call)
{
	struct promise_call *c = call->arg;
	uint32_t next = 0;

	c->busy = false;
	if (atomic_load(&iod_of(c)->stop))
		return;
	if (!call->status) {
		accept_answer(c);
		next = c->next;
	}
	if (next || c->again) {
		c->again &= next > 0;
		c->busy = ask_from(c, next);
	}
}

static struct promise_call *get_call(struct promise_exchange *exchange,
				     uint32_t to)
{
	struct promise_call *c = exchange->call[to];

	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->exchange = exchange;
	c->to = to;
	exchange->call[to] = c;
	return c;
}

/* Whether this iod is primary of a copyset of which `to` is a member. */
static bool needs_promises(const struct promise_exchange *exchange, uint32_t to)
{
	struct promise_head head;
	struct promise one;

	return assignments_ask_promises(exchange->worker->iod->assignments, to,
					0, &head, &one, 1);
}

/* Returns whether it has to be asked again. */
static bool ask_iod(struct promise_exchange *exchange, uint32_t to)
{
	struct promise_call *c;

	if (!needs_promises(exchange, to))
		return false;
	c = get_call(exchange, to);
	if (c && c->busy)
		c->again = true;
	else if (c)
		c->busy = ask_from(c, 0);
	return true;
}

static void ask_all(struct promise_exchange *exchange)
{
	struct iod *iod = exchange->worker->iod;
	bool again = false;

	if (atomic_load(&iod->stop))
		return;
	for (uint32_t to = 0; to < exchange->niods; to++)
		again |= ask_iod(exchange, to);
	if (again)
		rpc_timer_set(exchange->worker->ctx, &exchange->timer,
			      clock_after_ms(iod->conf.group_lease_ms / 4));
}

static void on_timer(struct rpc_timer *timer)
{
	ask_all(container_of(timer, struct promise_exchange, timer));
}

static void on_mail(struct mailbox_item *mail)
{
	struct promise_exchange *exchange =
		container_of(mail, struct promise_exchange, mail);

	atomic_store(&exchange->posted, false);
	ask_all(exchange);
}

void promise_exchange_start(struct promise_exchange *exchange)
{
	if (!atomic_exchange(&exchange->posted, true))
		mailbox_post(&exchange->worker->mail, &exchange->mail);
}

int promise_exchange_open(struct worker *w, struct promise_exchange **out)
{
	uint32_t niods = w->iod->conf.niods;
	struct promise_exchange *exchange = calloc(
		1, sizeof(*exchange) + niods * sizeof(exchange->call[0]));

	if (!exchange)
		return -ENOMEM;
	exchange->worker = w;
	exchange->niods = niods;
	exchange->timer.fire = on_timer;
	exchange->mail.deliver = on_mail;
	atomic_init(&exchange->posted, false);
	*out = exchange;
	return 0;
}

void promise_exchange_close(struct promise_exchange *exchange)
{
	if (!exchange)
		return;
	rpc_timer_clear(exchange->worker->ctx, &exchange->timer);
	for (uint32_t to = 0; to < exchange->niods; to++) {
		if (exchange->call[to])
			rpc_call_cancel(&exchange->call[to]->call);
		free(exchange->call[to]);
	}
	free(exchange);
}

/* ---- at the other members ---- */

void op_promise(struct worker *w, struct rpc_req *req)
{
	struct wire_promised promised[WIRE_PROMISES_MAX];
	struct promise list[WIRE_PROMISES_MAX];
	struct wire_promise body = *(const struct wire_promise *)req->msg.body;
	const struct promise_head head = { .process = le64toh(body.process),
					   .sent = le64toh(body.sent),
					   .lease = le64toh(body.lease) };
	uint32_t n = list_from_wire(&req->msg, list);
	struct wire_out *out;

	n = assignments_give_promises(w->iod->assignments, le32toh(body.iod),
				      &head, list, n);
	list_to_wire(list, n, promised);
	body.n = htole32(n);
	out = rpc_reply_begin(req);
	wire_put(out, &body, sizeof(body));
	wire_put(out, promised, n * sizeof(promised[0]));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}
