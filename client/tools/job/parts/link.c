/* SPDX-License-Identifier: BSD-2-Clause */
/* link.c - see link.h. */
#include "client/tools/job/parts/link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/tools/job/parts/job.h"
#include "common/util/clock.h"
#include "common/util/number.h"
#include "common/util/random_id.h"

int link_init(struct job_link *l, int fd)
{
	*l = (struct job_link){ .fd = -1 };
	l->in = malloc(LINK_LINE);
	if (!l->in) {
		close(fd);
		return -ENOMEM;
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	l->fd = fd;
	l->heard = clock_now();
	return 0;
}

void link_close(struct job_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->in);
	free(l->out);
	*l = (struct job_link){ .fd = -1 };
}

static int close_socket(struct job_link *l)
{
	close(l->fd);
	l->fd = -1;
	return -EPIPE;
}

int link_flush(struct job_link *l)
{
	size_t at = 0;

	if (l->fd < 0)
		return -EPIPE;
	while (at < l->nout) {
		ssize_t n = send(l->fd, l->out + at, l->nout - at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return close_socket(l);
		at += (size_t)n;
	}
	l->nout -= at;
	memmove(l->out, l->out + at, at ? l->nout : 0);
	return 0;
}

static int make_room(struct job_link *l, size_t more)
{
	size_t room = l->room ? l->room : 4096;
	char *grown;

	if (l->nout + more > LINK_OUT)
		return -ENOBUFS;
	while (room < l->nout + more)
		room *= 2;
	grown = room == l->room ? l->out : realloc(l->out, room);
	if (!grown)
		return -ENOMEM;
	l->out = grown;
	l->room = room;
	return 0;
}

int link_say(struct job_link *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (l->fd < 0)
		return -EPIPE;
	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || make_room(l, (size_t)n + 1))
		return close_socket(l);
	va_start(ap, fmt);
	vsnprintf(l->out + l->nout, (size_t)n + 1, fmt, ap);
	va_end(ap);
	l->nout += (size_t)n;
	return link_flush(l);
}

static void drop_taken(struct job_link *l)
{
	l->nin -= l->taken;
	memmove(l->in, l->in + l->taken, l->nin);
	l->taken = 0;
}

static bool is_endless(const struct job_link *l)
{
	return l->nin == LINK_LINE && !memchr(l->in, '\n', l->nin);
}

int link_fill(struct job_link *l)
{
	ssize_t n;

	if (l->fd < 0)
		return -EPIPE;
	drop_taken(l);
	if (l->nin == LINK_LINE)
		return is_endless(l) ? -EMSGSIZE : 0;
	n = recv(l->fd, l->in + l->nin, LINK_LINE - l->nin, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : close_socket(l);
	if (!n)
		return close_socket(l);
	l->nin += (size_t)n;
	l->heard = clock_now();
	return is_endless(l) ? -EMSGSIZE : 0;
}

char *link_line(struct job_link *l)
{
	char *line = l->in ? l->in + l->taken : NULL, *end;

	end = line ? memchr(line, '\n', l->nin - l->taken) : NULL;
	if (!end)
		return NULL;
	*end = '\0';
	l->taken += (size_t)(end - line) + 1;
	return line;
}

bool link_has_arrived(const struct job_link *l)
{
	int n;

	return !l->nout && !ioctl(l->fd, SIOCOUTQ, &n) && !n;
}

short link_events(const struct job_link *l)
{
	return (short)(POLLIN | (l->nout ? POLLOUT : 0));
}

static int wait_events(struct job_link *l, uint64_t deadline)
{
	struct pollfd p = { .fd = l->fd, .events = link_events(l) };

	if (clock_now() >= deadline)
		return -ETIMEDOUT;
	if (poll(&p, 1, clock_left_ms(deadline)) < 0)
		return errno == EINTR ? 0 : -errno;
	return p.revents & POLLOUT ? link_flush(l) : 0;
}

int link_wait(struct job_link *l, uint64_t deadline, char **line)
{
	int rc = 0;

	while (!(*line = link_line(l))) {
		if (!rc)
			rc = wait_events(l, deadline);
		if (rc)
			return rc;
		rc = link_fill(l); /* lines before the end count */
	}
	return 0;
}

void link_drain(struct job_link *l, uint64_t deadline)
{
	while (l->fd >= 0 && l->nout && clock_now() < deadline) {
		struct pollfd p = { .fd = l->fd, .events = POLLOUT };

		if (poll(&p, 1, clock_left_ms(deadline)) > 0)
			link_flush(l);
	}
}

/* ---- words of lines ---- */

void link_escape(const char *text, char *out)
{
	static const char hex[] = "0123456789abcdef";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c > ' ' && c != '%' && c != 0x7f) {
			*out++ = (char)c;
			continue;
		}
		*out++ = '%';
		*out++ = hex[c >> 4];
		*out++ = hex[c & 15];
	}
	*out = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int link_unescape(char *text)
{
	char *out = text;

	for (; *text; text++) {
		int high, low;

		if (*text != '%') {
			*out++ = *text;
			continue;
		}
		high = hex_digit(text[1]);
		low = high < 0 ? -1 : hex_digit(text[2]);
		if (low < 0 || (!high && !low))
			return -EINVAL;
		*out++ = (char)(high << 4 | low);
		text += 2;
	}
	*out = '\0';
	return 0;
}

/* ---- sockets for lines ---- */

static int sockaddr_of(const char *ip, unsigned int port,
		       struct sockaddr_in *sa)
{
	*sa = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port) };
	return inet_pton(AF_INET, ip, &sa->sin_addr) == 1 && port < 65536
		       ? 0
		       : -EINVAL;
}

static int finish_connect(int fd, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int err = 0;
	socklen_t len = sizeof(err);

	while (poll(&p, 1, clock_left_ms(deadline)) < 0)
		if (errno != EINTR)
			return -errno;
	if (!p.revents)
		return -ETIMEDOUT;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	return -err;
}

int link_connect(const char *ip, unsigned int port, uint64_t deadline)
{
	struct sockaddr_in sa;
	int fd, rc = sockaddr_of(ip, port, &sa);

	if (rc)
		return rc;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		rc = errno == EINPROGRESS ? finish_connect(fd, deadline)
					  : -errno;
	if (!rc)
		return fd;
	close(fd);
	return rc;
}

int link_listen(const char *ip, unsigned int *port)
{
	struct sockaddr_in sa;
	socklen_t len = sizeof(sa);
	int fd, rc = sockaddr_of(ip, *port, &sa);

	if (rc)
		return rc;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ||
	    listen(fd, SOMAXCONN) ||
	    getsockname(fd, (struct sockaddr *)&sa, &len)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	*port = ntohs(sa.sin_port);
	return fd;
}

int job_parse_addr(const char *text, struct job_addr *addr)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	struct sockaddr_in sa;
	struct job_addr a;
	uint64_t port;

	if (!len || len >= sizeof(a.ip) ||
	    number_parse(colon + 1, 65535, &port) || !port)
		return -EINVAL;
	memcpy(a.ip, text, len);
	a.ip[len] = '\0';
	a.port = (unsigned int)port;
	if (sockaddr_of(a.ip, a.port, &sa))
		return -EINVAL;
	*addr = a;
	return 0;
}

/* ---- ports that stay reserved ---- */

#define FIRST 10000u
#define PORTS 22000u

static int bind_to(int fd, const char *ip, unsigned int port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port) };
	int on = 1;

	if (inet_pton(AF_INET, ip, &sa.sin_addr) != 1)
		return -EINVAL;
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return -errno;
	/* after bind(), so that others who bind without the option are refused */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return 0;
}

int port_reserve(const char *ip, unsigned int *port)
{
	int fd, rc = -EADDRINUSE;

	for (int try = 0; rc == -EADDRINUSE && try < 200; try++) {
		uint32_t r;
		unsigned int p;

		if (random_bytes(&r, sizeof(r)))
			return -EIO;
		p = FIRST + r % PORTS;
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0)
			return -errno;
		rc = bind_to(fd, ip, p);
		if (!rc) {
			*port = p;
			return fd;
		}
		close(fd);
	}
	return rc;
}
