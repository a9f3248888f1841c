/* SPDX-License-Identifier: BSD-2-Clause */
/* sd_notify.c - see sd_notify.h. */
#include "common/util/sd_notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/number.h"

/* ---- messages ---- */

/* "@name" is an abstract name of Linux; those begin with a zero byte. */
static int parse_address(struct notify *n, const char *text)
{
	size_t len = strlen(text);

	if ((text[0] != '/' && text[0] != '@') || len < 2 ||
	    len >= sizeof(n->to.sun_path))
		return -EINVAL;
	n->to.sun_family = AF_UNIX;
	memcpy(n->to.sun_path, text, len + 1);
	n->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	if (text[0] == '@')
		n->to.sun_path[0] = '\0';
	else
		n->len++;
	return 0;
}

static int open_socket(struct notify *n)
{
	const struct timeval most = { .tv_sec = 1 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
	n->fd = fd;
	return 0;
}

/*
 * Sets *val to the number in an environment variable.  Returns false if the variable is not set, or
 * is no number.
 */
static bool number_of(const char *name, uint64_t *val)
{
	const char *text = secure_getenv(name);

	return text && !number_parse(text, UINT64_MAX, val);
}

/* Ignores a watchdog that is meant for another process. */
static uint64_t read_watchdog(void)
{
	uint64_t us, pid;

	if (!number_of("WATCHDOG_USEC", &us))
		return 0;
	if (secure_getenv("WATCHDOG_PID") &&
	    (!number_of("WATCHDOG_PID", &pid) || pid != (uint64_t)getpid()))
		return 0;
	return us < UINT64_MAX / 1000 ? us : 0;
}

int notify_open(struct notify *n)
{
	const char *text = secure_getenv("NOTIFY_SOCKET");
	int rc = 0;

	*n = (struct notify){ .fd = -1 };
	if (text) {
		rc = parse_address(n, text);
		if (!rc)
			rc = open_socket(n);
	}
	if (n->fd >= 0)
		n->watchdog_us = read_watchdog();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return rc;
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

static int send_lines(const struct notify *n, const char *lines, int flags)
{
	ssize_t rc;

	if (n->fd < 0)
		return 0;
	do
		rc = sendto(n->fd, lines, strlen(lines), flags | MSG_NOSIGNAL,
			    (const struct sockaddr *)&n->to, n->len);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}

int notify_say(const struct notify *n, const char *lines)
{
	return send_lines(n, lines, 0);
}

int notify_try(const struct notify *n, const char *lines)
{
	return send_lines(n, lines, MSG_DONTWAIT);
}

/* ---- watchdog signs ---- */

/* signs per watchdog interval */
#define SIGNS 4u

void pulse_init(struct pulse *p, const struct notify *n)
{
	p->notify = n;
	p->every = n->watchdog_us * 1000 / SIGNS;
	atomic_init(&p->beaten, 0);
	atomic_init(&p->due, 0);
	atomic_init(&p->ready, false);
	pulse_loops(p, 1);
}

void pulse_loops(struct pulse *p, unsigned int loops)
{
	p->all = UINT64_MAX >> (PULSE_LOOPS_MAX - loops);
}

/* If one is lost, the next one replaces it. */
static void send_sign(const struct pulse *p)
{
	char text[64];

	if (atomic_load(&p->ready))
		snprintf(text, sizeof(text), "WATCHDOG=1");
	else
		snprintf(text, sizeof(text), "EXTEND_TIMEOUT_USEC=%" PRIu64,
			 p->notify->watchdog_us);
	notify_try(p->notify, text);
}

/* Several loops may see that the round is complete; only one starts the next. */
static bool begins_round(struct pulse *p)
{
	uint64_t all = p->all;

	return atomic_compare_exchange_strong(&p->beaten, &all, 0);
}

uint64_t pulse_beat(struct pulse *p, unsigned int loop)
{
	uint64_t now, due, bit = 1ull << loop;

	if (!p || !p->every)
		return CLOCK_NEVER;
	now = clock_now();
	due = atomic_load(&p->due);
	if (!(atomic_load(&p->beaten) & bit))
		atomic_fetch_or(&p->beaten, bit);
	if (now < due)
		return due;
	if (begins_round(p)) {
		atomic_store(&p->due, now + p->every);
		send_sign(p);
	}
	return now + p->every;
}

int pulse_ready(struct pulse *p)
{
	atomic_store(&p->ready, true);
	return notify_say(p->notify, "READY=1\nSTATUS=Serves");
}

bool pulse_is_ready(const struct pulse *p)
{
	return atomic_load(&p->ready);
}
