/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_messages.c - the messages of a connection: receives of its own, receives that the
 * connections of a thread share, and sends.
 *
 * At first there are few shared receives.  When most of them are in use, the device reports that
 * (the limit of the queue), and the server posts more, up to a maximum.  If all are in use, the
 * senders' transport waits and retries.
 */
#include "common/comm/serve/conn_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHARED_SLAB 64u /* receives made at a time */
#define SHARED_MAX 1024u
#define SHARED_LOW 4u /* more are made when one in this many is left */
#define SHARED_FREE 8u /* clients may not keep one in this many */

struct pool_buf {
	struct receive_pool *pool;
	uint8_t *mem;
	uint32_t lkey;
};

struct pool_slab {
	SLIST_ENTRY(pool_slab) link;
	struct rail_mem mem;
	uint8_t *block;
	struct pool_buf buf[SHARED_SLAB];
};

struct receive_pool {
	struct ctx_shared base;
	struct server_thread *thread;
	unsigned int rail;
	struct tp_srq *srq;
	size_t size, step; /* bytes of a receive, and to the next */
	unsigned int made, conns;
	unsigned int kept; /* by all clients */
	SLIST_HEAD(, pool_slab) slabs;
};

/*
 * On a rail that pins memory, requests have little room for data.  Fast RDMA buffers (fast.h)
 * carry it there.
 */
size_t conn_request_max(const struct server_thread *thread, unsigned int rail)
{
	const struct rpc_server_attr *attr = &thread->server->attr;
	struct tp_dev *dev = thread->ctx->rails.dev[rail];
	uint32_t data = sizes_get(&attr->inline_max, tp_dev_name(dev),
				  tp_dev_pins(dev) ? CONN_PINNED_INLINE
						   : WIRE_INLINE_MAX);
	size_t max = sizeof(struct wire_hdr) + WIRE_BODY_MAX + data;

	return max < attr->request_max ? max : attr->request_max;
}

/* ---- shared receives ---- */

/* The number of receives that a client may keep, if they are available. */
static unsigned int receive_pool_share(const struct receive_pool *s)
{
	unsigned int n = s->made / (s->conns > 2 ? s->conns : 2);

	return n ? n : 1;
}

/*
 * Returns whether the client may hold another shared receive.  Clients together must not hold all
 * of them: a message that ends the wait of other clients (for a lock) must still be received.
 */
static bool receive_pool_may_keep(const struct conn *conn)
{
	const struct receive_pool *s = conn->pool;

	return conn->npooled < receive_pool_share(s) &&
	       s->kept < s->made - s->made / SHARED_FREE;
}

static int pool_buf_post(struct pool_buf *buf)
{
	struct tp_recv_wr wr = {
		.wr_id = (uintptr_t)buf,
		.sge = { buf->mem, (uint32_t)buf->pool->size, buf->lkey },
	};

	return tp_srq_post_recv(buf->pool->srq, &wr);
}

/* Posting again what was posted before cannot fail, unless the device has failed. */
static void pool_buf_repost(struct pool_buf *buf)
{
	int rc = pool_buf_post(buf);

	if (rc)
		log_error(buf->pool->thread->server->attr.log,
			  "a shared receive is lost: %s", strerror(-rc));
}

static struct pool_slab *pool_slab_new(struct receive_pool *s)
{
	size_t len = (s->step * SHARED_SLAB + 4095) & ~(size_t)4095;
	struct pool_slab *slab = calloc(1, sizeof(*slab));

	if (!slab)
		return NULL;
	slab->block = aligned_alloc(4096, len);
	rail_mem_init(&slab->mem, slab->block, len, TP_LOCAL_WRITE);
	if (slab->block &&
	    !rail_mem_on(&slab->mem, &s->thread->ctx->rails, s->rail))
		return slab;
	free(slab->block);
	free(slab);
	return NULL;
}

static int pool_slab_post(struct receive_pool *s, struct pool_slab *slab)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < SHARED_SLAB; i++) {
		slab->buf[i] = (struct pool_buf){
			.pool = s,
			.mem = slab->block + i * s->step,
			.lkey = slab->mem.mr[s->rail]->lkey,
		};
		rc = pool_buf_post(&slab->buf[i]);
		s->made += !rc;
	}
	return rc;
}

static int receive_pool_grow(struct receive_pool *s)
{
	struct pool_slab *slab = pool_slab_new(s);
	unsigned int before = s->made;
	int rc;

	if (!slab)
		return -ENOMEM;
	SLIST_INSERT_HEAD(&s->slabs, slab, link);
	rc = pool_slab_post(s, slab);
	counter_add(&s->thread->shared_bytes, slab->mem.len);
	counter_add(&s->thread->shared_receives, s->made - before);
	if (!rc && s->made < SHARED_MAX)
		rc = tp_srq_limit(s->srq, s->made / SHARED_LOW);
	return rc;
}

static void receive_pool_low(struct ctx_shared *base)
{
	struct receive_pool *s = container_of(base, struct receive_pool, base);
	int rc = s->made < SHARED_MAX ? receive_pool_grow(s) : 0;

	if (rc)
		log_warn(s->thread->server->attr.log,
			 "no more than %u receives for %u clients (%s): they "
			 "wait for each other",
			 s->made, s->conns, strerror(-rc));
}

/*
 * Gives rx memory of its own, and copies the message there.  If the message is in a Fast RDMA
 * buffer, it is copied later.
 */
static int rx_copy_message(struct rx *rx, const struct tp_wc *wc)
{
	size_t max = rx->conn->request_max;
	size_t len = wc->byte_len < max ? wc->byte_len : max;
	void *mem = malloc(len ? len : 1);

	if (!mem)
		return -ENOMEM;
	if (wc->opcode == TP_RECV)
		memcpy(mem, rx->buf, len);
	rx->buf = mem;
	counter_increment(&rx->conn->thread->shared_copies);
	return 0;
}

/* Copies a message of a client that is beyond its share. */
static int rx_take_buffer(struct conn *conn, struct rx *rx,
			  struct pool_buf *buf, const struct tp_wc *wc)
{
	int rc;

	rx->buf = buf->mem;
	if (receive_pool_may_keep(conn)) {
		rx->pool_buf = buf;
		conn->npooled++;
		conn->pool->kept++;
		return 0;
	}
	rc = rx_copy_message(rx, wc);
	pool_buf_repost(buf);
	return rc;
}

/* If a client has more requests in flight than slots, there is no rx left. */
static void receive_pool_deliver(struct conn *conn, struct pool_buf *buf,
				 const struct tp_wc *wc)
{
	struct rx *rx = SLIST_FIRST(&conn->spare);
	int rc;

	if (!rx) {
		counter_increment(&conn->thread->protocol_errors);
		log_warn(conn_log(conn),
			 "%s: more requests than it has slots; connection "
			 "closed",
			 conn->peer);
		pool_buf_repost(buf);
		link_fail(&conn->link, -EPROTO);
		return;
	}
	rc = rx_take_buffer(conn, rx, buf, wc);
	if (rc) {
		link_fail(&conn->link, rc);
		return;
	}
	SLIST_REMOVE_HEAD(&conn->spare, spare);
	conn->events->received(conn, rx, wc);
}

static void receive_pool_received(struct ctx_shared *base,
				  struct rpc_link *link, const struct tp_wc *wc)
{
	struct pool_buf *buf = (struct pool_buf *)(uintptr_t)wc->wr_id;
	struct conn *conn = link ? container_of(link, struct conn, link) : NULL;

	if (conn && !wc->status && conn_accepts_messages(conn)) {
		receive_pool_deliver(conn, buf, wc);
		return;
	}
	pool_buf_repost(buf);
	if (link && wc->status)
		link_fail(link, wc->status);
}

static void rx_release_pooled(struct rx *rx)
{
	struct conn *conn = rx->conn;

	if (rx->pool_buf) {
		pool_buf_repost(rx->pool_buf);
		conn->npooled--;
		conn->pool->kept--;
	} else {
		free(rx->buf);
	}
	rx->pool_buf = NULL;
	rx->buf = NULL;
	rx->state = RX_SPARE;
	SLIST_INSERT_HEAD(&conn->spare, rx, spare);
}

static void receive_pool_free(struct receive_pool *s)
{
	struct pool_slab *slab;

	if (s->srq)
		tp_srq_close(s->srq);
	while ((slab = SLIST_FIRST(&s->slabs))) {
		SLIST_REMOVE_HEAD(&s->slabs, link);
		rail_mem_fini(&slab->mem);
		free(slab->block);
		free(slab);
	}
	free(s);
}

static struct receive_pool *receive_pool_open(struct server_thread *thread,
					      unsigned int rail, size_t size)
{
	struct receive_pool *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->base = (struct ctx_shared){ receive_pool_received,
				       receive_pool_low };
	s->thread = thread;
	s->rail = rail;
	s->size = size;
	s->step = server_step(s->size);
	SLIST_INIT(&s->slabs);
	if (!tp_srq_open(thread->ctx->rail[rail].cq, SHARED_MAX, &s->base,
			 &s->srq) &&
	    !receive_pool_grow(s))
		return s;
	receive_pool_free(s);
	return NULL;
}

struct receive_pool *receive_pool_get(struct server_thread *thread,
				      unsigned int rail, size_t size)
{
	if (thread->pool[rail])
		return thread->pool[rail];
	thread->pool[rail] = receive_pool_open(thread, rail, size);
	if (thread->pool[rail])
		ctx_rail_use(thread->ctx, rail);
	return thread->pool[rail];
}

void receive_pool_close_all(struct server_thread *thread)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++) {
		if (!thread->pool[i])
			continue;
		receive_pool_free(thread->pool[i]);
		ctx_rail_leave(thread->ctx, i);
	}
}

void receive_pool_join(struct receive_pool *s, struct conn *conn)
{
	unsigned int i;

	conn->pool = s;
	conn->link.srq = s->srq;
	s->conns++;
	for (i = 0; i < conn->nrx; i++) {
		conn->rx[i].state = RX_SPARE;
		SLIST_INSERT_HEAD(&conn->spare, &conn->rx[i], spare);
	}
}

/* When the server closes, a connection may still hold buffers.  Gives them back. */
void receive_pool_leave(struct conn *conn)
{
	unsigned int i;

	if (!conn->pool)
		return;
	for (i = 0; i < conn->nrx; i++) {
		if (conn->rx[i].state != RX_SPARE)
			rx_release_pooled(&conn->rx[i]);
	}
	conn->pool->conns--;
}

/* ---- receives of its own ---- */

static int rx_post(struct rx *rx)
{
	struct conn *conn = rx->conn;
	struct tp_recv_wr wr = {
		.wr_id = (uintptr_t)rx,
		.sge = { .addr = rx->buf,
			 .len = (uint32_t)conn->request_max,
			 .lkey = rx->lkey },
	};

	rx->state = RX_POSTED;
	return tp_post_recv(conn->link.ep, &wr);
}

void rx_release(struct rx *rx)
{
	struct conn *conn = rx->conn;
	int rc;

	if (conn->pool) {
		rx_release_pooled(rx);
		conn_put(conn);
		return;
	}
	rx->state = RX_POSTED;
	if (conn->state == CONN_HELLO || conn->state == CONN_OPEN) {
		rc = rx_post(rx);
		if (rc)
			link_fail(&conn->link, rc);
	}
	conn_put(conn);
}

int rx_init(struct conn *conn, struct rx *rx, void *buf, uint32_t lkey)
{
	rx->conn = conn;
	rx->buf = buf;
	rx->lkey = lkey;
	return rx_post(rx);
}

int rx_more(struct conn *conn, uint8_t *block, size_t step, uint32_t lkey)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && i < WIRE_CARRY_MAX; i++) {
		rc = rx_init(conn, &conn->rx[conn->nrx], block + i * step,
			     lkey);
		conn->nrx += !rc;
	}
	return rc;
}

/* ---- sends ---- */

void conn_send_over(struct conn *conn, struct rpc_link *link, const void *msg,
		    uint32_t len, uint32_t lkey)
{
	struct tp_sge sge = { (void *)(uintptr_t)msg, len, lkey };
	int rc = link_send(link, &sge, 1, conn->state == CONN_LINGER);

	counter_add(link == &conn->link ? &conn->thread->message_bytes
					: &conn->thread->apart_bytes,
		    len);
	if (rc)
		link_fail(&conn->link, rc);
}

void conn_send(struct conn *conn, const void *msg, uint32_t len, uint32_t lkey)
{
	conn_send_over(conn, &conn->link, msg, len, lkey);
}
