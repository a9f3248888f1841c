/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolver.h - the addresses of hosts, looked up by threads of its own.
 *
 * A look-up may take as long as the system's resolver likes, and a thread that
 * serves others must not wait for it.  What was found once is used from then
 * on, however old it is, and looked up again behind the back of who asks.
 *
 * All functions may be called from any thread.
 */
#ifndef RESOLVER_H
#define RESOLVER_H

#include <stdbool.h>
#include <sys/queue.h>

#define HOSTS_MAX 8u /* addresses of a host that are looked at */
#define HOST_LEN 64u /* bytes of a numeric one, with its NUL */

/* Numeric addresses, in the resolver's order. */
struct hosts {
	unsigned int n;
	char host[HOSTS_MAX][HOST_LEN];
};

struct resolver;

/* -ENOMEM */
int resolver_open(struct resolver **resolver);
/*
 * Nobody watches any more.  Does not wait for look-ups that are under way: their
 * threads end by themselves.  NULL is left alone.
 */
void resolver_close(struct resolver *resolver);

/*
 * The addresses of host, a name or a numeric address; never waits.
 *
 * 0: *hosts is set.  -EINPROGRESS: it is being looked up, and watchers will
 * hear when that is over.  -EHOSTUNREACH: that failed, a moment ago; *why is a
 * constant string.  -ENOMEM, -EAGAIN (no thread could be made).
 */
int resolver_get(struct resolver *resolver, const char *host,
		 struct hosts *hosts, const char **why);

/*
 * ended() is called after each look-up, by its thread and with a lock held that
 * resolver_get() needs: it only passes the word on.
 */
struct resolver_watch {
	void (*ended)(struct resolver_watch *watch);
	LIST_ENTRY(resolver_watch) link; /* private */
};
void resolver_watch(struct resolver *resolver, struct resolver_watch *watch);
/* ended() is not running and will not be called again. */
void resolver_unwatch(struct resolver *resolver, struct resolver_watch *watch);

#endif
