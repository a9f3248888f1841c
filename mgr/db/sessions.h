/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sessions.h - sessions that changed metadata, and the last reply of each of their
 * slots.  The transaction of a change also writes the reply.  So if a client repeats a
 * request after a crash of the manager, it is not executed twice.
 */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "mgr/db/store.h"

/* the session has ended; the manager is informing the iods */
#define SESSION_FENCED 0x1u
/* the session has ended; its open records and locks are being dropped */
#define SESSION_ENDED 0x2u
#define SESSION_BYE 0x4u /* the session was ended by BYE */
#define SESSION_OVER (SESSION_FENCED | SESSION_ENDED | SESSION_BYE)
#define SESSION_EVICTED 0x10u /* the session was ended by an administrator */
#define SESSION_DECLARES                                                       \
	0x8u /* the client declares its holds again when the manager restarts */

struct session_rec {
	uint64_t id;
	uint32_t uid, gid;
	uint32_t flags; /* SESSION_* */
	char name[64];
};

int session_get(struct store *st, uint64_t id, struct session_rec *rec);
int session_put(struct store *st, const struct session_rec *rec);
/* Deletes the session and its replies. */
int session_del(struct store *st, uint64_t id);
/* Calls fn for each session. Stops at the first non-zero value of fn and returns it. */
int session_walk(struct store *st,
		 int (*fn)(void *arg, const struct session_rec *rec),
		 void *arg);

/*
 * REPLY_DONE: bytes is the reply message.  REPLY_JOB: the intent of the request is
 * recorded and there is no reply yet; `job` is the intent and bytes its file.
 * REPLY_OPENED: bytes is the reply to an open without the capability at its end;
 * `opened` has the WIRE_O_* of the open.
 */
enum reply_kind { REPLY_DONE = 1, REPLY_JOB = 2, REPLY_OPENED = 3 };

/* maximum bytes of the reply to a request that changes something */
#define REPLY_MAX 512u

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

/* Reads the last reply of the slot. Returns 0, or -ENOENT if there is none. */
int reply_get(struct store *st, uint64_t session, unsigned int slot,
	      struct reply_rec *rec);
int reply_put(struct store *st, uint64_t session, unsigned int slot,
	      const struct reply_rec *rec);
/* Calls fn for each slot of the session. Stops at the first non-zero value of fn and returns it. */
int reply_walk(struct store *st, uint64_t session,
	       int (*fn)(void *arg, unsigned int slot,
			 const struct reply_rec *rec),
	       void *arg);

/*
 * Open records: which session has which file open for writing, or holds it while reading.  They
 * survive a restart of the manager, so that a size is trusted only after every writer has
 * reported.
 */
#define OPEN_APPEND 0x1u
#define OPEN_HOLD                                                              \
	0x2u /* a reader that holds the file: it exists until the release */
#define OPEN_NOT_OWNER 0x4u /* the opener is neither the owner nor root */
#define OPEN_DECLARED                                                          \
	0x8u /* a hold by DECLARE: the manager did not see the open */

struct open_rec {
	uint64_t session;
	uint64_t open; /* from store_new_id() */
	uint64_t handle;
	uint32_t flags; /* OPEN_* */
};

int open_get(struct store *st, uint64_t session, uint64_t open,
	     struct open_rec *rec);
int open_put(struct store *st, const struct open_rec *rec);
int open_del(struct store *st, uint64_t session, uint64_t open);
/* Sets *n to the number of open records of the session, at most max. */
int open_count(struct store *st, uint64_t session, uint32_t max, uint32_t *n);
/* Reads any open record of the session. Returns 0, or -ENOENT if it has none. */
int open_any(struct store *st, uint64_t session, struct open_rec *rec);

#endif
