/* SPDX-License-Identifier: BSD-2-Clause */
/* sock_listen.c - listening; accepts connections no faster than the process can handle them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/descriptors.h"
#include "common/transport/sock.h"

#define ACCEPT_TURN 16
#define SAY_AGAIN_MS 60000 /* near the limit, EMFILE comes and goes */
#define PAUSE_MS 100 /* delay before accepting again after a failure */

static void listener_wait(struct sock_listener *l)
{
	if (!l->more)
		return;
	l->more = false;
	TAILQ_REMOVE(&l->cq->listeners, l, more_link);
}

void sock_listener_resume(struct sock_listener *l)
{
	if (l->more)
		return;
	l->more = true;
	TAILQ_INSERT_TAIL(&l->cq->listeners, l, more_link);
}

static void listener_edge(struct sock_src *src, uint32_t events)
{
	sock_listener_resume(container_of(src, struct sock_listener, src));
}

static void listener_retry(struct sock_timer *timer)
{
	sock_listener_resume(container_of(timer, struct sock_listener, retry));
}

static const char *accept_fix(int err)
{
	if (err == EMFILE || err == ENFILE)
		return "; raise the open files limit";
	if (err == ENOBUFS || err == ENOMEM)
		return "; free memory";
	return "; trying again: restart the daemon if that lasts";
}

/* New connections wait in the backlog meanwhile. */
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
static bool of_one(int err)
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

bool sock_listener_scarce(const struct sock_listener *l)
{
	return descriptors_short(l->fd, TP_SPARE, TP_EACH * l->nqueued);
}

unsigned int sock_listener_half(const struct sock_listener *l)
{
	unsigned int most = l->scarce ? descriptors_reserve(TP_SPARE) / 4 + 1
				      : SOCK_HALF_OPEN;

	return most < SOCK_HALF_OPEN ? most : SOCK_HALF_OPEN;
}

/* False: nothing more to accept now. */
static bool accept_one(struct sock_listener *l)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	int fd = accept4(l->fd, (struct sockaddr *)&sa, &len,
			 SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		l->failed = 0;
		sock_req_new(l, fd, (struct sockaddr *)&sa);
		return true;
	}
	if (errno == EAGAIN)
		listener_wait(l);
	else if (!of_one(errno))
		pause_accepting(l, errno);
	return l->more;
}

void sock_listener_more(struct sock_listener *l)
{
	int turn;

	l->scarce = sock_listener_scarce(l);
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
		sock_req_drop(req);
	while ((req = TAILQ_FIRST(&l->queued))) {
		tp_pending_drop(&l->cq->events, &req->ev);
		sock_req_taken(req);
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
