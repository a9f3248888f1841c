/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flusher.h - group commit.  A caller that committed a transaction and must not reveal
 * it before it is durable adds an item.  There are two ways to make it durable:
 *
 *	one manager       flusher_open(): the flusher's thread flushes the store's log once
 *	                  for all waiting items, while the owner continues.  If recent
 *	                  flushes took less than quick_ns, the owner flushes itself.
 *	several managers  flusher_open_replicated(): the changes are durable once they are
 *	                  committed in the managers' log.  Items wait until then, and as long
 *	                  as another manager may lead.
 */
#ifndef FLUSHER_H
#define FLUSHER_H

#include <sys/queue.h>

#include "mgr/db/store.h"

struct flusher;

/* Memory of the caller.  The flusher uses it until flusher_collect() calls durable(). */
struct flusher_item {
	void (*durable)(struct flusher_item *item);
	STAILQ_ENTRY(flusher_item) link;
	/* with several managers: the last change that it waits for */
	uint64_t change;
};

/* The log of several managers, as the flusher uses it: in the owner's thread. */
struct managers_log {
	void *arg;
	/* Proposes the transactions that were committed until now.  Does not wait. */
	void (*propose)(void *arg);
	/* Handles what was stored and received since the last call. */
	void (*collect)(void *arg);
	/* Whether no other manager leads. */
	bool (*leads)(void *arg);
	/* Returns once the log has all transactions.  -errno: it will never have them. */
	int (*wait)(void *arg);
};

/*
 * The flusher's thread calls wake when flusher_collect() has work.  If most_deferred deferred
 * items wait, they are flushed without waiting for an item of flusher_add().
 */
int flusher_open(struct store *st, uint64_t quick_ns,
		 unsigned int most_deferred, void (*wake)(void *arg), void *arg,
		 struct flusher **fl);
/* log: copied. */
int flusher_open_replicated(struct store *st, const struct managers_log *log,
			    unsigned int most_deferred, struct flusher **fl);
/* Drops the items that are inside without calling durable(). */
void flusher_close(struct flusher *fl);

/* Adds an item.  Store's thread only. */
void flusher_add(struct flusher *fl, struct flusher_item *item);
/* Adds an item that may wait: it is flushed together with the next item of flusher_add(). */
void flusher_add_deferred(struct flusher *fl, struct flusher_item *item);
/*
 * Adds an item of a request that changed nothing.  It becomes durable when all changes that the
 * request may have read are durable.  Returns true if durable() was already called; with one
 * manager, always.
 */
bool flusher_add_read(struct flusher *fl, struct flusher_item *item);
/* Whether no other manager leads.  Check it before promising anything to an iod or a client. */
bool flusher_leads(const struct flusher *fl);
/* Makes the next flusher_submit() flush the deferred items, even if no other item was added. */
void flusher_release_deferred(struct flusher *fl);
/*
 * Whether the next flusher_submit() will flush in the caller's thread.  Then changes that are
 * committed before it can share the flush.
 */
bool flusher_will_flush_here(const struct flusher *fl);
/* Average duration of recent flushes, ns. */
uint64_t flusher_flush_ns(const struct flusher *fl);
/*
 * Flushes the added items, or hands them to the thread.  Call it once per turn of the
 * event loop.  true: flushed here, flusher_collect() has work.
 */
bool flusher_submit(struct flusher *fl);
/* Calls durable() of each durable item.  Returns their number; -EIO: the store failed. */
int flusher_collect(struct flusher *fl);
/*
 * Returns once all committed transactions are durable, or -errno.  It blocks, so call it only at
 * the start and the end of the manager, when no client is served.
 */
int flusher_wait(struct flusher *fl);
/* Number of items that wait; store's thread. */
unsigned int flusher_count(const struct flusher *fl);
/* Durations of flushes; any thread. */
const struct timing *flusher_flush_times(const struct flusher *fl);
/* Whether no item is inside. */
bool flusher_is_empty(const struct flusher *fl);

/*
 * The thread of a checkpointer calls store_checkpoint(), depending on the length of the log and on
 * the time.
 */
struct checkpointer;
int checkpointer_open(struct store *st, struct checkpointer **cp);
void checkpointer_close(struct checkpointer *cp);
/* Call it after a commit: pages have changed.  Any thread. */
void checkpointer_wake(struct checkpointer *cp);
/* Calls store_checkpoint() now.  Any thread. */
void checkpointer_hurry(struct checkpointer *cp);

#endif
