/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sessions.h - sessions that changed something, and the last reply of each of
 * their slots, written in the transaction of the change: a request that is
 * sent again after a crash of the mgr is not executed twice.
 */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "mgr/db/store.h"

#define SESSION_FENCED 0x1u /* over; the iods are being told */
#define SESSION_ENDED 0x2u /* over; what it had open is being dropped */
#define SESSION_BYE 0x4u /* ... and it said so itself */
#define SESSION_OVER (SESSION_FENCED | SESSION_ENDED | SESSION_BYE)
#define SESSION_EVICTED 0x10u /* ... by an administrator */
#define SESSION_DECLARES                                                       \
	0x8u /* after a restart of the mgr it says what it holds */

struct session_rec {
	uint64_t id;
	uint32_t uid, gid;
	uint32_t flags; /* SESSION_* */
	char name[64];
};

int session_get(struct store *st, uint64_t id, struct session_rec *rec);
int session_put(struct store *st, const struct session_rec *rec);
/* With its replies. */
int session_del(struct store *st, uint64_t id);
/* Calls fn for each; stops at the first non-zero and returns it. */
int session_walk(struct store *st,
		 int (*fn)(void *arg, const struct session_rec *rec),
		 void *arg);

/*
 * REPLY_DONE: bytes is the reply message.  REPLY_JOB: the request's intent is
 * recorded, `job` names it and bytes its file, no reply yet.  REPLY_OPENED: the message
 * but for the capability that ends it, for who opened with the WIRE_O_* in `opened`.
 */
enum reply_kind { REPLY_DONE = 1, REPLY_JOB = 2, REPLY_OPENED = 3 };

#define REPLY_MAX 512u /* bytes of a reply that changes something */

struct reply_rec {
	uint64_t seq;
	enum reply_kind kind;
	union {
		uint64_t job;
		uint64_t opened;
	};
	size_t len;
	uint8_t bytes[REPLY_MAX];
};

/* -ENOENT; the slot's last one. */
int reply_get(struct store *st, uint64_t session, unsigned int slot,
	      struct reply_rec *rec);
int reply_put(struct store *st, uint64_t session, unsigned int slot,
	      const struct reply_rec *rec);
/* Calls fn for each slot of the session; stops at the first non-zero. */
int reply_walk(struct store *st, uint64_t session,
	       int (*fn)(void *arg, unsigned int slot,
			 const struct reply_rec *rec),
	       void *arg);

#endif
