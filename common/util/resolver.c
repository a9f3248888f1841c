/* SPDX-License-Identifier: BSD-2-Clause */
/* resolver.c - resolves hosts, a few at a time, and caches the results. */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/hash_table.h"
#include "common/util/quiet_thread.h"
#include "common/util/resolver.h"

#define THREADS_MAX 4u /* a name that hangs must not delay the others */
#define NAMES_MAX 4096u
#define STACK_SIZE (1u << 20) /* name service modules may need it */
#define FRESH_NS (30000 * CLOCK_NS_PER_MS)
#define FAILED_NS (1000 * CLOCK_NS_PER_MS)

struct name {
	UT_hash_handle hh;
	STAILQ_ENTRY(name) link;
	bool busy; /* in the queue, or being resolved */
	int failed; /* result of the last look-up: EAI_*; 0: success */
	uint64_t ended; /* clock_now() at its end; 0: none yet */
	struct host_addrs hosts; /* n is 0: no address found yet */
	char host[];
};

struct resolver {
	pthread_mutex_t lock; /* protects everything */
	unsigned int refs; /* the owner and each thread */
	unsigned int threads;
	bool closed;
	struct name *names;
	STAILQ_HEAD(, name) queue;
	LIST_HEAD(, resolver_watch) watches;
};

int resolver_open(struct resolver **out)
{
	struct resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	pthread_mutex_init(&r->lock, NULL);
	STAILQ_INIT(&r->queue);
	LIST_INIT(&r->watches);
	r->refs = 1;
	*out = r;
	return 0;
}

static void free_all(struct resolver *r)
{
	struct name *name, *next;

	HASH_ITER(hh, r->names, name, next) {
		HASH_DEL(r->names, name);
		free(name);
	}
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* Called with the lock, which it releases. */
static void release_and_unlock(struct resolver *r)
{
	bool last = --r->refs == 0;

	pthread_mutex_unlock(&r->lock);
	if (last)
		free_all(r);
}

void resolver_close(struct resolver *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->closed = true;
	release_and_unlock(r);
}

/* ---- the threads ---- */

static bool hosts_add(struct host_addrs *hosts, const struct addrinfo *ai)
{
	char *host = hosts->host[hosts->n];

	if (getnameinfo(ai->ai_addr, ai->ai_addrlen, host, HOST_LEN, NULL, 0,
			NI_NUMERICHOST))
		return false;
	hosts->n++;
	return true;
}

/* 0 or EAI_*. */
static int look_up(const char *host, int flags, struct host_addrs *hosts)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = flags };
	struct addrinfo *list, *ai;
	int rc = getaddrinfo(host, NULL, &hints, &list);

	hosts->n = 0;
	if (rc)
		return rc;
	for (ai = list; ai && hosts->n < HOSTS_MAX; ai = ai->ai_next)
		hosts_add(hosts, ai);
	freeaddrinfo(list);
	return hosts->n ? 0 : EAI_NONAME;
}

/* Called with the lock, which is released during the look-up. */
static void resolve_name(struct resolver *r, struct name *name)
{
	struct resolver_watch *watch;
	struct host_addrs hosts;
	int failed;

	pthread_mutex_unlock(&r->lock);
	failed = look_up(name->host, 0, &hosts);
	pthread_mutex_lock(&r->lock);
	name->busy = false;
	name->failed = failed;
	name->ended = clock_now();
	if (!failed)
		name->hosts = hosts;
	LIST_FOREACH(watch, &r->watches, link)
		watch->ended(watch);
}

static void *thread_main(void *arg)
{
	struct resolver *r = arg;
	struct name *name;

	pthread_mutex_lock(&r->lock);
	while (!r->closed && (name = STAILQ_FIRST(&r->queue))) {
		STAILQ_REMOVE_HEAD(&r->queue, link);
		resolve_name(r, name);
	}
	r->threads--;
	release_and_unlock(r);
	return NULL;
}

static int start_thread(struct resolver *r)
{
	int rc = quiet_thread(STACK_SIZE, thread_main, r, NULL);

	if (rc)
		return rc;
	r->threads++;
	r->refs++;
	return 0;
}

/* ---- the callers ---- */

static struct name *find_or_add_name(struct resolver *r, const char *host)
{
	size_t len = strlen(host);
	struct name *name;

	HASH_FIND(hh, r->names, host, len, name);
	if (name || HASH_COUNT(r->names) >= NAMES_MAX)
		return name;
	name = calloc(1, sizeof(*name) + len + 1);
	if (!name)
		return NULL;
	memcpy(name->host, host, len);
	HASH_ADD(hh, r->names, host, len, name);
	if (name->hh.tbl)
		return name;
	free(name);
	return NULL;
}

static bool is_due(const struct name *name)
{
	uint64_t age = clock_now() - name->ended;

	if (name->busy)
		return false;
	return !name->ended || age > (name->failed ? FAILED_NS : FRESH_NS);
}

/* If no thread can be started, the name waits for an existing one. */
static int queue_name(struct resolver *r, struct name *name)
{
	int rc = r->threads < THREADS_MAX ? start_thread(r) : 0;

	if (rc && !r->threads)
		return -EAGAIN;
	name->busy = true;
	STAILQ_INSERT_TAIL(&r->queue, name, link);
	return 0;
}

static int get_hosts(struct resolver *r, const char *host,
		     struct host_addrs *hosts, const char **why)
{
	struct name *name = find_or_add_name(r, host);
	int rc;

	if (!name)
		return -ENOMEM;
	rc = is_due(name) ? queue_name(r, name) : 0;
	if (name->hosts.n) {
		*hosts = name->hosts;
		return 0;
	}
	if (rc || name->busy)
		return rc ? rc : -EINPROGRESS;
	*why = gai_strerror(name->failed);
	return -EHOSTUNREACH;
}

int resolver_get(struct resolver *r, const char *host, struct host_addrs *hosts,
		 const char **why)
{
	struct host_addrs numeric;
	int rc;

	if (!look_up(host, AI_NUMERICHOST, &numeric)) {
		*hosts = numeric;
		return 0;
	}
	pthread_mutex_lock(&r->lock);
	rc = get_hosts(r, host, hosts, why);
	pthread_mutex_unlock(&r->lock);
	return rc;
}

void resolver_watch(struct resolver *r, struct resolver_watch *watch)
{
	pthread_mutex_lock(&r->lock);
	LIST_INSERT_HEAD(&r->watches, watch, link);
	pthread_mutex_unlock(&r->lock);
}

void resolver_unwatch(struct resolver *r, struct resolver_watch *watch)
{
	pthread_mutex_lock(&r->lock);
	LIST_REMOVE(watch, link);
	pthread_mutex_unlock(&r->lock);
}
