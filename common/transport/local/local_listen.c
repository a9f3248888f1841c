/* SPDX-License-Identifier: BSD-2-Clause */
/* local_listen.c - listening, and accepting no faster than can be handled. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "local.h"

#define ACCEPT_TURN 16
#define STARVED_MS 100 /* until the next try when descriptors ran out */
#define PORT_TRIES 1000
#define PORT_FIRST 32768u /* of those that are chosen */
#define PORTS 28000u

static struct local_listener *to_listener(const struct tp_listener *base)
{
	return container_of(base, struct local_listener, listener);
}

void local_listener_wait(struct local_listener *l)
{
	if (!l->more)
		return;
	l->more = false;
	TAILQ_REMOVE(&l->cq->listeners, l, more_link);
}

void local_listener_resume(struct local_listener *l)
{
	if (l->more)
		return;
	l->more = true;
	TAILQ_INSERT_TAIL(&l->cq->listeners, l, more_link);
}

static void listener_edge(struct local_src *src, uint32_t events)
{
	local_listener_resume(container_of(src, struct local_listener, src));
}

static void listener_retry(struct local_timer *timer)
{
	local_listener_resume(
		container_of(timer, struct local_listener, retry));
}

static void starved(struct local_listener *l, int err)
{
	if (!l->starved)
		log_error(l->cq->cq.dev->log,
			  "local: cannot accept on %s:%u: %s; raise the open "
			  "files limit",
			  l->addr.host, l->addr.port, strerror(err));
	l->starved = true;
	local_listener_wait(l);
	local_timer_set(l->cq, &l->retry, clock_after_ms(STARVED_MS));
}

/* False: no more now. */
static bool accept_one(struct local_listener *l)
{
	int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		l->starved = false;
		local_req_new(l, fd);
		return true;
	}
	switch (errno) {
	case EAGAIN:
		local_listener_wait(l);
		return false;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		starved(l, errno);
		return false;
	default: /* that one connection failed */
		return true;
	}
}

void local_listener_more(struct local_listener *l)
{
	int turn;

	for (turn = 0; turn < ACCEPT_TURN; turn++) {
		if (l->nqueued >= LOCAL_HALF_OPEN) {
			local_listener_wait(l);
			return;
		}
		if (!accept_one(l))
			return;
	}
}

static uint16_t some_port(void)
{
	uint16_t r = 0;

	if (getrandom(&r, sizeof(r), GRND_NONBLOCK) < 0)
		r = (uint16_t)clock_now();
	return (uint16_t)(PORT_FIRST + r % PORTS);
}

static int bind_name(int fd, const struct local_name *name)
{
	return bind(fd, (const struct sockaddr *)&name->sun, name->len) ? -errno
									: 0;
}

static int bind_some_port(int fd, const struct local_name *base, uint16_t *port)
{
	int i, rc = -EADDRINUSE;

	for (i = 0; i < PORT_TRIES && rc == -EADDRINUSE; i++) {
		struct local_name name = *base;

		*port = some_port();
		local_name_port(&name, *port);
		rc = bind_name(fd, &name);
	}
	return rc;
}

/* The listening socket, or -errno. */
static int open_socket(struct addr *addr, int backlog)
{
	struct local_name name[LOCAL_NAMES];
	int rc = local_names(addr, true, name), fd;

	if (rc < 0)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = addr->port ? bind_name(fd, name)
			: bind_some_port(fd, name, &addr->port);
	if (!rc && listen(fd, backlog > 0 ? backlog : SOMAXCONN))
		rc = -errno;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int local_listen(struct tp_cq *base, const struct addr *addr, int backlog,
		 struct tp_listener **out)
{
	struct local_cq *cq = container_of(base, struct local_cq, cq);
	struct local_listener *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return -ENOMEM;
	l->listener.dev = base->dev;
	l->src.ready = listener_edge;
	l->retry.fire = listener_retry;
	l->cq = cq;
	l->addr = *addr;
	TAILQ_INIT(&l->half);
	TAILQ_INIT(&l->queued);
	rc = l->fd = open_socket(&l->addr, backlog);
	if (rc < 0) {
		log_error(base->dev->log, "local: cannot listen on %s:%u: %s",
			  addr->host, addr->port, strerror(-rc));
		goto free_l;
	}
	rc = local_cq_add(cq, l->fd, &l->src, EPOLLIN);
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

void local_listener_addr(const struct tp_listener *base, struct addr *addr)
{
	*addr = to_listener(base)->addr;
}

void local_unlisten(struct tp_listener *base)
{
	struct local_listener *l = to_listener(base);
	struct local_req *req;

	while ((req = TAILQ_FIRST(&l->half)))
		local_req_drop(req);
	while ((req = TAILQ_FIRST(&l->queued))) {
		local_event_drop(l->cq, &req->ev);
		local_req_taken(req);
		local_reject(&req->req, NULL, 0);
	}
	local_listener_wait(l);
	local_timer_clear(l->cq, &l->retry);
	local_cq_del(l->cq, l->fd, &l->src);
	close(l->fd);
	free(l);
}
