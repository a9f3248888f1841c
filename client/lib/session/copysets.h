/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copysets.h - what a session knows about rings and copysets (common/dist/copyset.h).
 *
 * A layout of ring 0 gives the iod of each server by itself. For other rings the client needs rows
 * of the manager. It asks for them (COPYSETS) when it meets a ring that it does not know, and when
 * an iod refuses the version that a request names (WIRE_ECOPYSET):
 *
 *	call                     cache                              manager
 *	copysets_find() -------->| unknown, or refused
 *	copysets_await() ------->|-- COPYSETS since the last one -->|
 *	                         |<-- rings, changed rows ----------|
 *	done() <-----------------| at once if it is another version;
 *	                         | otherwise after a pause of 50 to 250 ms
 *
 * There is one question at a time, for all calls that wait. Rings never change, and each row is one
 * word, so any thread may look up without a lock. Only the thread that drives the session may call
 * the functions that wait and cancel.
 *
 * Memory: 8 bytes for each copyset, at most 8 MiB (WIRE_RINGS_MAX rings of WIRE_RING_MAX).
 */
#ifndef COPYSETS_H
#define COPYSETS_H

#include <sys/queue.h>

#include "common/dist/copyset.h"
#include "common/wire/wire.h"

struct copysets;
struct session;

/* The session outlives the cache. NULL: no memory. */
struct copysets *copysets_new(struct session *s);
/* All calls that wait have ended, and the peer of the manager is closed. c may be NULL. */
void copysets_free(struct copysets *c);

/* A copyset, its version, and the index of the iod that serves it. */
struct copyset_place {
	struct copyset_ref ref;
	uint32_t iod;
};

/*
 * Finds the copyset of server k of a layout that names another ring than 0. -ENOENT: the client
 * does not know its row, or no member serves. -EPROTO: the session does not know the iod.
 */
int copysets_find(const struct copysets *c, const struct dist *dist, uint32_t k,
		  struct copyset_place *place);

/*
 * Waiting until a request can be sent, or sent again. The caller owns it until done(). It sets all
 * fields to zero before the first wait of a call, and keeps them for later ones.
 */
struct copysets_wait {
	const struct dist *dist; /* outlives the wait */
	uint32_t k;
	uint32_t refused; /* version that an iod refused; 0: none */
	uint64_t deadline;
	/*
	 * Called once, but not in copysets_await(). status is 0 if copysets_find() succeeds: at
	 * once if the version is not the refused one, else after a pause, because an iod learns a
	 * new version a little later or earlier than the client. -ETIMEDOUT, logged, after the
	 * deadline; an error of the manager, or -EPROTO of copysets_find(). -ESTALE: the session
	 * has ended.
	 */
	void (*done)(struct copysets_wait *wait, int status);
	/* private */
	unsigned int pause_ms; /* the last pause */
	uint64_t resume; /* end of the pause; CLOCK_NEVER: there is none */
	int status;
	TAILQ_ENTRY(copysets_wait) link;
};
void copysets_await(struct copysets *c, struct copysets_wait *wait);
/*
 * Calls wait->done() with -ECANCELED. Does nothing if wait does not wait; then its memory need not
 * be initialised.
 */
void copysets_cancel(struct copysets *c, struct copysets_wait *wait);

/*
 * Sets *ring to the ring of the layout. If the client does not know it, asks the manager, and waits
 * until its first server has an iod. Any thread may call it. Returns 0, or a status of struct
 * copysets_wait.
 */
int copysets_learn(struct session *s, const struct dist *dist,
		   struct ring *ring);

#endif
