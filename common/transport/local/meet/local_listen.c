/* SPDX-License-Identifier: BSD-2-Clause */
/* local_listen.c - the names under which a server listens. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "common/transport/local/meet/local_conn.h"

#define PORT_TRIES 1000
#define PORT_FIRST 32768u /* first of the ports that are chosen at random */
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
		.req_new = local_req_new,
		.req_read = local_req_read,
		.say_reject = local_say_reject,
		.req_free = local_req_free,
		.late = "no hello in time",
		.unlisten = local_sock_unlisten,
	};

	return sock_listen(container_of(base, struct sock_cq, cq), &ops, addr,
			   backlog, local_dev(base->dev)->handshake_ms, out);
}
