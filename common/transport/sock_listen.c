/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_listen.c - listening, and accepted sockets until the application accepts or rejects their
 * connection. Accepts connections no faster than the process can handle them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/sock.h"
#include "common/util/process_limits.h"

#define ACCEPT_TURN 16
/* ms; near the limit, EMFILE occurs and ends repeatedly */
#define SAY_AGAIN_MS 60000
#define PAUSE_MS 100 /* delay before accepting again after a failure */

static void listener_wait(struct sock_listener *l)
{
	if (!l->more)
		return;
	l->more = false;
	TAILQ_REMOVE(&l->cq->listeners, l, more_link);
}

static void listener_resume(struct sock_listener *l)
{
	if (l->more)
		return;
	l->more = true;
	TAILQ_INSERT_TAIL(&l->cq->listeners, l, more_link);
}

static void listener_edge(struct sock_src *src, uint32_t events)
{
	listener_resume(container_of(src, struct sock_listener, src));
}

static void listener_retry(struct sock_timer *timer)
{
	listener_resume(container_of(timer, struct sock_listener, retry));
}

static const char *accept_fix(int err)
{
	if (err == EMFILE || err == ENFILE)
		return "; raise the open files limit";
	if (err == ENOBUFS || err == ENOMEM)
		return "; free memory";
	return "; trying again: restart the daemon if that lasts";
}

/* Stops accepting for PAUSE_MS.  New connections wait in the backlog meanwhile. */
static void pause_accepting(struct sock_listener *l, int err)
{
	const struct tp_dev *dev = l->listener.dev;

	if (err != l->said || clock_now() > l->say_again) {
		log_error(dev->log, "%s: cannot accept on %s:%u: %s%s",
			  dev->ops->name, l->addr.host, l->addr.port,
			  strerror(err), accept_fix(err));
		l->say_again = clock_after_ms(SAY_AGAIN_MS);
	}
	l->failed = l->said = err;
	listener_wait(l);
	sock_timer_set(l->cq, &l->retry, clock_after_ms(PAUSE_MS));
}

/* Whether the error concerns only the incoming connection, which is gone: accept(2). */
static bool is_of_one_peer(int err)
{
	switch (err) {
	case EINTR:
	case ECONNABORTED:
	case ENETDOWN:
	case EPROTO:
	case ENOPROTOOPT:
	case EHOSTDOWN:
	case ENONET:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

/* A hello can carry 253 descriptors, and the daemon opens files for its clients. */
_Static_assert(TP_SPARE / 2 > 253, "the rest is enough for a hello");

/* The result of tp_req_scarce() for a request that is complete now. */
static bool listener_is_scarce(const struct sock_listener *l)
{
	return descriptors_short(l->fd, TP_SPARE, TP_EACH * l->nqueued);
}

/*
 * Returns the maximum number of half-open requests.  While descriptors are scarce, they may use a
 * quarter of the reserve.
 */
static unsigned int half_open_max(const struct sock_listener *l)
{
	unsigned int most = l->scarce ? descriptors_reserve(TP_SPARE) / 4 + 1
				      : SOCK_HALF_OPEN;

	return most < SOCK_HALF_OPEN ? most : SOCK_HALF_OPEN;
}

static struct sock_req *to_req(const struct tp_conn_req *base)
{
	return container_of(base, struct sock_req, req);
}

void sock_req_free(struct sock_req *req)
{
	req->ops->req_free(req);
}

/* Removes req from the half-open list, the timers and the epoll set. */
static void remove_half_open(struct sock_req *req)
{
	struct sock_listener *l = req->listener;

	sock_timer_clear(l->cq, &req->timer);
	sock_cq_del(l->cq, req->fd, &req->src);
	TAILQ_REMOVE(&l->half, req, link);
	l->nhalf--;
}

/* Drops a half-open request without an answer to the peer. */
static void req_drop(struct sock_req *req)
{
	remove_half_open(req);
	sock_req_free(req);
}

static void drop_request(struct sock_req *req, const char *why)
{
	if (why)
		log_warn(req->req.dev->log, "%s: connect dropped: %s",
			 req->peer, why);
	req_drop(req);
}

static void req_late(struct sock_timer *timer)
{
	struct sock_req *req = container_of(timer, struct sock_req, timer);

	drop_request(req, req->ops->late);
}

static void req_complete(struct sock_req *req)
{
	struct sock_listener *l = req->listener;

	remove_half_open(req);
	req->req.scarce = listener_is_scarce(l);
	req->req.peer = req->peer;
	req->req.priv = req->priv.data;
	req->req.priv_len = req->priv.len;
	TAILQ_INSERT_TAIL(&l->queued, req, link);
	l->nqueued++;
	tp_pending_queue(&l->cq->events, &req->ev, TP_EV_CONNECT_REQUEST, 0);
}

static void req_edge(struct sock_src *src, uint32_t events)
{
	struct sock_req *req = container_of(src, struct sock_req, src);
	const char *why = NULL;
	int rc = req->ops->req_read(req, &why);

	if (rc > 0)
		req_complete(req);
	else if (rc < 0)
		drop_request(req, why);
}

/*
 * Drops the oldest half-open request, unless its hello has arrived unnoticed: so it is read first.
 */
static void make_room(struct sock_listener *l, unsigned int most)
{
	req_edge(&TAILQ_FIRST(&l->half)->src, 0);
	if (l->nhalf >= most)
		drop_request(TAILQ_FIRST(&l->half),
			     "too many connects without a hello");
}

static void add_half_open(struct sock_listener *l, struct sock_req *req)
{
	unsigned int most = half_open_max(l);

	while (l->nhalf >= most)
		make_room(l, most);
	TAILQ_INSERT_TAIL(&l->half, req, link);
	l->nhalf++;
	sock_timer_set(l->cq, &req->timer, clock_after_ms(l->handshake_ms));
}

static void no_memory(const struct sock_listener *l)
{
	const struct tp_dev *dev = l->listener.dev;

	log_error(dev->log, "%s: no memory for a connection", dev->ops->name);
}

/* Begins a half-open request for the accepted socket fd, and takes ownership of fd. */
static void req_open(struct sock_listener *l, int fd, const struct sockaddr *sa)
{
	struct sock_req *req = l->ops->req_new(l, fd, sa);

	if (!req) {
		no_memory(l);
		return;
	}
	req->req.dev = l->listener.dev;
	req->ops = l->ops;
	req->fd = fd;
	req->src.ready = req_edge;
	if (sock_cq_add(l->cq, fd, &req->src, EPOLLIN | EPOLLRDHUP)) {
		no_memory(l);
		sock_req_free(req);
		return;
	}
	req->timer.fire = req_late;
	req->ev.req = &req->req;
	req->ev.listener = &l->listener;
	req->ev.priv = &req->priv;
	req->listener = l;
	add_half_open(l, req);
}

/* Called when the event was taken: detaches req from the listener. */
static void req_detach(struct sock_req *req)
{
	struct sock_listener *l = req->listener;

	TAILQ_REMOVE(&l->queued, req, link);
	l->nqueued--;
	listener_resume(l);
	req->listener = NULL;
}

/* Accepts one connection.  Returns false if there is nothing more to accept now. */
static bool accept_one(struct sock_listener *l)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int fd = accept4(l->fd, (struct sockaddr *)&sa, &len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		l->failed = 0;
		req_open(l, fd, (struct sockaddr *)&sa);
		return true;
	}
	if (errno == EAGAIN)
		listener_wait(l);
	else if (!is_of_one_peer(errno))
		pause_accepting(l, errno);
	return l->more;
}

/*
 * If descriptors have become scarce, closes half-open (silent) connections, because they must not
 * occupy the reserve until their deadline.
 */
static void shed_half_open(struct sock_listener *l)
{
	unsigned int most = half_open_max(l);

	while (l->nhalf > most)
		make_room(l, most + 1);
}

/* Accepts up to one turn's number of connections. */
static void listener_accept(struct sock_listener *l)
{
	int turn;

	l->scarce = listener_is_scarce(l);
	shed_half_open(l);
	if (l->scarce && descriptors_reserve_gone(l->fd, TP_SPARE)) {
		pause_accepting(l, EMFILE);
		return;
	}
	for (turn = 0; turn < ACCEPT_TURN; turn++) {
		if (l->nqueued >= SOCK_HALF_OPEN) {
			listener_wait(l);
			return;
		}
		if (!accept_one(l))
			return;
	}
}

const char *sock_listen_fix(int rc)
{
	if (rc == -EADDRINUSE)
		return "; another daemon has the port: end that one, or change "
		       "address in [mgr] or [iod.N]";
	if (rc == -EADDRNOTAVAIL)
		return "; it is no address of this host: start it on the one "
		       "that has it, or change address in "
		       "[mgr] or [iod.N]";
	return "";
}

int sock_listen(struct sock_cq *cq, const struct sock_accept_ops *ops,
		const struct addr *addr, int backlog, unsigned int handshake_ms,
		struct tp_listener **out)
{
	struct sock_listener *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return -ENOMEM;
	l->listener.dev = cq->cq.dev;
	l->ops = ops;
	l->src.ready = listener_edge;
	l->retry.fire = listener_retry;
	l->cq = cq;
	l->addr = *addr;
	l->handshake_ms = handshake_ms;
	TAILQ_INIT(&l->half);
	TAILQ_INIT(&l->queued);
	rc = l->fd = ops->open(cq->cq.dev, &l->addr,
			       backlog > 0 ? backlog : SOMAXCONN);
	if (rc < 0)
		goto free_l;
	rc = sock_cq_add(cq, l->fd, &l->src, EPOLLIN);
	if (rc)
		goto close_fd;
	*out = &l->listener;
	return 0;
close_fd:
	close(l->fd);
free_l:
	free(l);
	return rc;
}

void sock_listener_addr(const struct tp_listener *base, struct addr *addr)
{
	*addr = container_of(base, const struct sock_listener, listener)->addr;
}

void sock_unlisten(struct tp_listener *base)
{
	struct sock_listener *l = container_of(base, struct sock_listener,
					       listener);
	struct sock_req *req;

	while ((req = TAILQ_FIRST(&l->half)))
		req_drop(req);
	while ((req = TAILQ_FIRST(&l->queued))) {
		tp_pending_drop(&l->cq->events, &req->ev);
		req_detach(req);
		sock_reject(&req->req, NULL, 0);
	}
	listener_wait(l);
	sock_timer_clear(l->cq, &l->retry);
	sock_cq_del(l->cq, l->fd, &l->src);
	if (l->ops->unlisten)
		l->ops->unlisten(l->listener.dev, l->fd);
	else
		close(l->fd);
	free(l);
}

int sock_req_check(const struct sock_req *req)
{
	char c;
	ssize_t n = recv(req->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		return -EPROTO;
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	return -ECONNRESET;
}

void sock_reject(struct tp_conn_req *base, const void *priv, unsigned int len)
{
	struct sock_req *req = to_req(base);

	req->ops->send_reject(req->fd, priv,
			      len < TP_PRIVATE_MAX ? len : TP_PRIVATE_MAX);
	sock_req_free(req);
}

int sock_cq_event(struct tp_cq *base, struct tp_event *out)
{
	struct tp_pending *ev = tp_pending_take(
		&container_of(base, struct sock_cq, cq)->events, out);

	if (ev && ev->req)
		req_detach(container_of(ev, struct sock_req, ev));
	return ev != NULL;
}

void sock_cq_handle(struct sock_cq *cq)
{
	struct sock_listener *l, *next;
	int i;

	for (i = 0; i < cq->nsaved; i++) {
		struct sock_src *src = cq->saved[i].data.ptr;

		if (src)
			src->ready(src, cq->saved[i].events);
	}
	cq->nsaved = 0;
	for (l = TAILQ_FIRST(&cq->listeners); l; l = next) {
		next = TAILQ_NEXT(l, more_link);
		listener_accept(l);
	}
}
