/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conns.h - limits the number and the lifetime of the HTTP server's connections,
 * whatever they send.  If there are too many, a new one replaces the oldest connection
 * of the host that has the most connections.
 */
#ifndef EXPORTER_CONNS_H
#define EXPORTER_CONNS_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct http_conn {
	TAILQ_ENTRY(http_conn) link; /* the oldest first */
	int fd;
	struct in6_addr from; /* zeros: unknown */
	uint64_t since;
	bool shut;
};

struct conns {
	/* private */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	TAILQ_HEAD(, http_conn) all;
	/* n: connections that are not shut down; most: their limit */
	unsigned int n, most;
	uint64_t life_ns;
	bool stop;
};

/* At most this many connections, each for at most ms.  0 or -errno. */
int conns_open(struct conns *cs, unsigned int most, unsigned int ms);
/* Called when no connection is left. */
void conns_close(struct conns *cs);
/*
 * Adds the accepted connection fd, which stays open until conns_remove().  Returns NULL if there is
 * no memory; fd is then shut down but not closed.
 */
struct http_conn *conns_add(struct conns *cs, int fd);
void conns_remove(struct conns *cs, struct http_conn *c);

#endif
