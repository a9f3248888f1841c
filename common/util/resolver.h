/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resolver.h - resolves host names with its own threads.
 *
 * A look-up may take as long as the system's resolver needs, and a thread that serves others must
 * not wait for it. Addresses that were found are used from then on, whatever their age. They are
 * refreshed in the background.
 *
 * Any thread may call any of these functions.
 */
#ifndef RESOLVER_H
#define RESOLVER_H

#include <stdbool.h>
#include <sys/queue.h>

#define HOSTS_MAX 8u /* addresses of a host that are used */
#define HOST_LEN 64u /* bytes of a numeric address, with its NUL */

/* Numeric addresses, in the resolver's order. */
struct host_addrs {
	unsigned int n;
	char host[HOSTS_MAX][HOST_LEN];
};

struct resolver;

/* Returns 0 or -ENOMEM. */
int resolver_open(struct resolver **resolver);
/*
 * No watcher may be left. Does not wait for look-ups in progress: their threads end later. NULL is
 * allowed.
 */
void resolver_close(struct resolver *resolver);

/*
 * Finds the addresses of host, a name or a numeric address. Never waits.
 *
 * Returns 0 with *hosts set, or -EINPROGRESS: the look-up is in progress, and watchers are called
 * when it ends. Other results: -EHOSTUNREACH: the look-up failed a moment ago, and *why is a
 * constant string. -ENOMEM. -EAGAIN: no thread could be started.
 */
int resolver_get(struct resolver *resolver, const char *host,
		 struct host_addrs *hosts, const char **why);

/*
 * ended() is called after each look-up, on the thread of the look-up. This thread holds a lock that
 * resolver_get() needs, so ended() may only notify another thread.
 */
struct resolver_watch {
	void (*ended)(struct resolver_watch *watch);
	LIST_ENTRY(resolver_watch) link; /* private */
};
void resolver_watch(struct resolver *resolver, struct resolver_watch *watch);
/* After this call returns, ended() is not running and will not be called again. */
void resolver_unwatch(struct resolver *resolver, struct resolver_watch *watch);

#endif
