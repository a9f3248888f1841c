/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flusher.h - group commit.  Whoever committed a transaction and must not
 * speak of it before it is durable adds an item; the flusher's thread flushes
 * the log once for all items that wait, while the owner goes on.  Of late a flush
 * took less than quick_ns: then the owner itself does it.
 */
#ifndef FLUSHER_H
#define FLUSHER_H

#include <sys/queue.h>

#include "mgr/db/store.h"

struct flusher;

/* Caller-owned until durable(), which flusher_collect() calls. */
struct flusher_item {
	void (*durable)(struct flusher_item *item);
	STAILQ_ENTRY(flusher_item) link;
};

/* wake: called by the flusher's thread when flusher_collect() has work.  most_late: so many
 * items that are in no hurry go by themselves. */
int flusher_open(struct store *st, uint64_t quick_ns, unsigned int most_late,
		 void (*wake)(void *arg), void *arg, struct flusher **fl);
/* Items still inside are dropped without a call. */
void flusher_close(struct flusher *fl);

/* The store's thread only. */
void flusher_add(struct flusher *fl, struct flusher_item *item);
/* The same for an item that is in no hurry: it goes with the next one. */
void flusher_add_late(struct flusher *fl, struct flusher_item *item);
/* There was none: the late items go by themselves. */
void flusher_hurry(struct flusher *fl);
/* Items were added, and flusher_submit() is going to flush for them itself:
 * what comes in now can share that. */
bool flusher_gathers(const struct flusher *fl);
/* ns that it takes, when it does so itself. */
uint64_t flusher_takes(const struct flusher *fl);
/* Flushes for the added items, or hands them over; call once a turn of the event
 * loop.  True: flushed, flusher_collect() has work. */
bool flusher_submit(struct flusher *fl);
/* Calls durable() of what is; returns how many, or -EIO: the store failed. */
int flusher_collect(struct flusher *fl);
/* Items that wait; the store's thread. */
unsigned int flusher_waiting(const struct flusher *fl);
/* How long flushes took; any thread. */
const struct timing *flusher_flushed(const struct flusher *fl);
/* No item is inside. */
bool flusher_idle(const struct flusher *fl);

/* A thread that writes checkpoints, by log volume and by time. */
struct checkpointer;
int checkpointer_open(struct store *st, struct checkpointer **cp);
void checkpointer_close(struct checkpointer *cp);
/* Any thread: something was committed. */
void checkpointer_note(struct checkpointer *cp);

#endif
