/* SPDX-License-Identifier: BSD-2-Clause */
/* local_listen.c - the names under which a server listens; reads the hello of a connector. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/transport/local/meet/local_conn.h"

static struct local_giver req_giver(const struct local_req *req)
{
	return local_giver(req->sock.req.dev, req->id.uid);
}

static void req_free(struct sock_req *base)
{
	struct local_req *req = local_req(base);
	const struct local_giver from = req_giver(req);

	if (base->fd >= 0)
		local_sock_close(&from, base->fd);
	local_fds_close(&from, &req->fds);
	free(req->groups);
	free(req);
}

static void send_reject(int fd, const void *priv, unsigned int len)
{
	local_hello_send(fd, LOCAL_REJECT, priv, len, NULL);
}

static bool is_connect(const struct local_hello *hello)
{
	uint32_t group = hello->has & LOCAL_GROUP_FDS;

	return hello->type == LOCAL_CONNECT &&
	       !(hello->has & LOCAL_ACCEPT_FDS) &&
	       (!group || group == LOCAL_GROUP_FDS);
}

static int req_read(struct sock_req *base, const char **why)
{
	struct local_fds *fds = &local_req(base)->fds;
	const struct local_giver from = req_giver(local_req(base));
	struct local_hello hello;
	int rc;

	if (local_drops_full(&from)) {
		*why = "too many descriptors that its user gave do not close; "
		       "end this user's processes whose sockets linger, or "
		       "that serve FUSE and hang";
		return -EBUSY;
	}
	*why = "it closed before its hello";
	rc = local_hello_recv(&from, base->fd, &hello, fds, why);
	if (rc == -EAGAIN)
		return 0;
	if (rc == 0 && !is_connect(&hello)) {
		*why = "it does not begin with a connect";
		rc = -EPROTO;
	}
	if (rc == -EPROTO) /* the REJECT tells the peer our version */
		send_reject(base->fd, NULL, 0);
	if (rc)
		return rc;
	tp_private_set(&base->priv, hello.priv, hello.priv_len);
	*why = NULL; /* the connector may have left already */
	rc = sock_req_check(base);
	return rc ? rc : 1;
}

static struct sock_req *req_new(const struct sock_listener *l, int fd,
				const struct sockaddr *sa)
{
	struct tp_identity id = { 0 };
	int rc = local_sock_peer(fd, &id);
	const struct local_giver from = local_giver(l->listener.dev, id.uid);
	struct local_req *req = rc ? NULL : calloc(1, sizeof(*req));

	if (!req || local_sock_groups(fd, &req->groups, &id.ngroups)) {
		free(req);
		local_sock_close(&from, fd);
		return NULL;
	}
	id.groups = req->groups;
	req->id = id;
	req->sock.req.dev = l->listener.dev;
	req->fds = LOCAL_NO_FDS;
	snprintf(req->sock.peer, sizeof(req->sock.peer),
		 "local pid %d uid %u at %s:%u", req->id.pid, req->id.uid,
		 l->addr.host, l->addr.port);
	return &req->sock;
}

int local_req_identity(const struct tp_conn_req *base, struct tp_identity *id)
{
	*id = local_req(container_of(base, struct sock_req, req))->id;
	return 0;
}

#define PORT_TRIES 1000
/* lowest of the ports from which one is chosen at random */
#define PORT_FIRST 32768u
#define PORTS 28000u

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

static int bind_and_listen(int fd, struct addr *addr, int backlog)
{
	struct local_name name[LOCAL_NAMES];
	int rc = local_names(addr, true, name);

	if (rc < 0)
		return rc;
	rc = addr->port ? bind_name(fd, name)
			: bind_some_port(fd, name, &addr->port);
	if (!rc && listen(fd, backlog))
		rc = -errno;
	return rc;
}

static int open_socket(struct tp_dev *dev, struct addr *addr, int backlog)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int rc = fd < 0 ? -errno : bind_and_listen(fd, addr, backlog);

	if (!rc)
		return fd;
	log_error(dev->log, "local: cannot listen on %s:%u: %s%s", addr->host,
		  addr->port, strerror(-rc), sock_listen_fix(rc));
	if (fd >= 0)
		close(fd);
	return rc;
}

int local_listen(struct tp_cq *base, const struct addr *addr, int backlog,
		 struct tp_listener **out)
{
	static const struct sock_accept_ops ops = {
		.open = open_socket,
		.req_new = req_new,
		.req_read = req_read,
		.send_reject = send_reject,
		.req_free = req_free,
		.late = "no hello in time",
		.unlisten = local_sock_unlisten,
	};

	return sock_listen(container_of(base, struct sock_cq, cq), &ops, addr,
			   backlog, local_dev(base->dev)->handshake_ms, out);
}
