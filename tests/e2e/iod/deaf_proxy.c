/* SPDX-License-Identifier: BSD-2-Clause */
/* deaf_proxy.c - one thread copies bytes in both directions. */
#include "tests/e2e/iod/deaf_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/e2e/iod/iodc.h"

#define LOOK_MS 10

static struct sockaddr_in at(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(
					     INADDR_LOOPBACK) };
}

static bool send_all(int fd, const char *buf, ssize_t len)
{
	ssize_t n;

	for (; len > 0; buf += n, len -= n) {
		n = send(fd, buf, (size_t)len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
	}
	return true;
}

/* Returns false if one end has closed its connection. */
static bool copy(const struct deaf_proxy *p, const int fd[2], int from)
{
	char buf[65536];
	ssize_t n = recv(fd[from], buf, sizeof(buf), 0);

	if (n <= 0)
		return false;
	if (from == 1 && atomic_load(&p->deaf))
		return true;
	return send_all(fd[!from], buf, n);
}

static void carry(const struct deaf_proxy *p, const int fd[2])
{
	struct pollfd poll_fd[2] = { { fd[0], POLLIN, 0 },
				     { fd[1], POLLIN, 0 } };
	bool up = true;
	int i;

	while (up && !atomic_load(&p->stop)) {
		poll(poll_fd, 2, LOOK_MS);
		for (i = 0; i < 2; i++)
			if (up && poll_fd[i].revents)
				up = copy(p, fd, i);
	}
}

static void serve_one(const struct deaf_proxy *p, int client)
{
	struct sockaddr_in server = at(atomic_load(&p->server));
	const int fd[2] = { client, socket(AF_INET, SOCK_STREAM, 0) };

	must(fd[1] >= 0);
	if (!connect(fd[1], (struct sockaddr *)&server, sizeof(server)))
		carry(p, fd);
	close(fd[1]);
}

static void *run(void *arg)
{
	struct deaf_proxy *p = arg;
	struct pollfd poll_fd = { p->listener, POLLIN, 0 };
	int client;

	while (!atomic_load(&p->stop)) {
		if (poll(&poll_fd, 1, LOOK_MS) != 1 || !atomic_load(&p->server))
			continue;
		client = accept(p->listener, NULL, NULL);
		if (client < 0)
			continue;
		serve_one(p, client);
		close(client);
	}
	return NULL;
}

void deaf_proxy_start(struct deaf_proxy *p, int server)
{
	struct sockaddr_in any = at(0);
	socklen_t len = sizeof(any);

	*p = (struct deaf_proxy){ .listener = socket(AF_INET, SOCK_STREAM, 0) };
	must(!bind(p->listener, (struct sockaddr *)&any, sizeof(any)));
	must(!listen(p->listener, 8));
	must(!getsockname(p->listener, (struct sockaddr *)&any, &len));
	p->port = ntohs(any.sin_port);
	atomic_init(&p->server, server);
	must(!pthread_create(&p->thread, NULL, run, p));
}

void deaf_proxy_stop(struct deaf_proxy *p)
{
	atomic_store(&p->stop, true);
	pthread_join(p->thread, NULL);
	close(p->listener);
}
