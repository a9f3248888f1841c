/* SPDX-License-Identifier: BSD-2-Clause */
/* link.c - see link.h. */
#include "client/tools/job/parts/link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/util/clock.h"

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

/* The line that has begun is longer than LINK_LINE. */
static bool has_long_line(const struct job_link *l)
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
		return has_long_line(l) ? -EMSGSIZE : 0;
	n = recv(l->fd, l->in + l->nin, LINK_LINE - l->nin, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : close_socket(l);
	if (!n)
		return close_socket(l);
	l->nin += (size_t)n;
	l->heard = clock_now();
	return has_long_line(l) ? -EMSGSIZE : 0;
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

	if (l->fd < 0)
		return -EPIPE;
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
