/* SPDX-License-Identifier: BSD-2-Clause */
/* conns.c - see conns.h. */
#include "client/tools/monitor/exporter/conns.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/util/clock.h"

/*
 * Shuts the connection down.  The thread that serves it then reads the end of the stream, and
 * closes the descriptor.
 */
static void shut_conn(struct conns *cs, struct http_conn *c)
{
	if (c->shut)
		return;
	c->shut = true;
	cs->n--;
	shutdown(c->fd, SHUT_RDWR);
}

/* Returns the oldest connection that is not shut. */
static struct http_conn *oldest_conn(struct conns *cs)
{
	struct http_conn *c;

	TAILQ_FOREACH(c, &cs->all, link) {
		if (!c->shut)
			return c;
	}
	return NULL;
}

static unsigned int count_siblings(const struct conns *cs,
				   const struct http_conn *of)
{
	const struct http_conn *c;
	unsigned int n = 0;

	TAILQ_FOREACH(c, &cs->all, link)
		n += !c->shut && IN6_ARE_ADDR_EQUAL(&c->from, &of->from);
	return n;
}

/* Returns the oldest of the host with the most: a host with one connection keeps it. */
static struct http_conn *conn_to_shut(struct conns *cs)
{
	struct http_conn *c, *found = NULL;
	unsigned int n, most = 0;

	TAILQ_FOREACH(c, &cs->all, link) {
		n = c->shut ? 0 : count_siblings(cs, c);
		if (n > most) {
			most = n;
			found = c;
		}
	}
	return found;
}

/* Stores an IPv4 address as ::A.B.C.D. */
static void read_peer(struct http_conn *c)
{
	struct sockaddr_storage ss = { 0 };
	const struct sockaddr_in *in = (const void *)&ss;
	const struct sockaddr_in6 *in6 = (const void *)&ss;
	socklen_t len = sizeof(ss);

	if (getpeername(c->fd, (struct sockaddr *)&ss, &len))
		return;
	if (ss.ss_family == AF_INET6)
		c->from = in6->sin6_addr;
	else if (ss.ss_family == AF_INET)
		memcpy(&c->from.s6_addr[12], &in->sin_addr, 4);
}

static void *shut_old_conns(void *arg)
{
	struct conns *cs = arg;
	struct timespec until;
	struct http_conn *c;

	pthread_mutex_lock(&cs->lock);
	while (!cs->stop) {
		c = oldest_conn(cs);
		if (c && clock_now() - c->since >= cs->life_ns) {
			shut_conn(cs, c);
			continue;
		}
		until = clock_timespec((c ? c->since : clock_now()) +
				       cs->life_ns);
		pthread_cond_timedwait(&cs->changed, &cs->lock, &until);
	}
	pthread_mutex_unlock(&cs->lock);
	return NULL;
}

int conns_open(struct conns *cs, unsigned int most, unsigned int ms)
{
	pthread_condattr_t attr;
	int rc;

	*cs = (struct conns){ .most = most, .life_ns = ms * CLOCK_NS_PER_MS };
	TAILQ_INIT(&cs->all);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&cs->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&cs->lock, NULL);
	rc = -pthread_create(&cs->thread, NULL, shut_old_conns, cs);
	if (!rc)
		return 0;
	pthread_cond_destroy(&cs->changed);
	pthread_mutex_destroy(&cs->lock);
	return rc;
}

void conns_close(struct conns *cs)
{
	pthread_mutex_lock(&cs->lock);
	cs->stop = true;
	pthread_cond_signal(&cs->changed);
	pthread_mutex_unlock(&cs->lock);
	pthread_join(cs->thread, NULL);
	pthread_cond_destroy(&cs->changed);
	pthread_mutex_destroy(&cs->lock);
}

struct http_conn *conns_add(struct conns *cs, int fd)
{
	struct http_conn *c = calloc(1, sizeof(*c));

	if (!c) {
		shutdown(fd, SHUT_RDWR);
		return NULL;
	}
	c->fd = fd;
	c->since = clock_now();
	read_peer(c);
	pthread_mutex_lock(&cs->lock);
	if (cs->n >= cs->most)
		shut_conn(cs, conn_to_shut(cs));
	TAILQ_INSERT_TAIL(&cs->all, c, link);
	cs->n++;
	pthread_mutex_unlock(&cs->lock);
	return c;
}

void conns_remove(struct conns *cs, struct http_conn *c)
{
	pthread_mutex_lock(&cs->lock);
	TAILQ_REMOVE(&cs->all, c, link);
	cs->n -= !c->shut;
	pthread_mutex_unlock(&cs->lock);
	free(c);
}
