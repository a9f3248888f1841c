/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broadcast.h - the same request to several iods in parallel.
 */
#ifndef BROADCAST_H
#define BROADCAST_H

#include "common/dist/dist.h"
#include "client/lib/session/client_session.h"

/*
 * Sends the message in out, which must not be ended yet, to the servers k < pcount of
 * dist, and waits for all.  skip (may be NULL) returns true for servers to leave out.
 * aim(), if not NULL, adapts the message for server k before it is sent.  take() gets
 * each reply with status 0, on one thread at a time.  once: the request is a change.  If
 * it may have been made in a session that has ended, the result is -ECONNABORTED, and the
 * request must not be repeated.  Returns 0 or the first error.
 */
struct broadcast {
	struct session *s;
	const struct dist *dist;
	bool (*skip)(void *arg, uint32_t k);
	void (*aim)(void *arg, uint32_t k, void *msg);
	int (*take)(void *arg, uint32_t k, const struct wire_msg *reply);
	void *arg;
	bool once;
};
int broadcast_run(const struct broadcast *broadcast, enum wire_op op,
		  struct wire_out *out);
/* The same with a message of only a body of len bytes, at most BROADCAST_BODY_MAX. */
#define BROADCAST_BODY_MAX 64u
int broadcast_body(const struct broadcast *broadcast, enum wire_op op,
		   const void *body, size_t len);
/* Returns the distribution of a file on all iods. */
struct dist all_iods_dist(const struct session *s);
/*
 * Checks all iods.  An iod that does not answer, or belongs to another file system, is
 * logged.  Does not wait.
 */
void iods_check(struct session *s);

/* The state of a file at its iods. */
struct file_size {
	uint64_t size; /* bytes, computed from the sizes of the objects */
	uint64_t blocks; /* in units of 512 bytes, all objects together */
	int64_t mtime; /* the latest, ns; 0: there is no object */
};
/* skip: as above; size is then computed from the other iods. */
int size_ask(struct session *s, uint64_t handle, const struct dist *dist,
	     bool (*skip)(void *arg, uint32_t k), void *arg,
	     struct file_size *size);
/* The same for all iods.  place() gets each answer that contains the address of an end. */
int size_ask_where(struct session *s, uint64_t handle, const struct dist *dist,
		   void (*place)(void *arg, uint32_t k,
				 const struct wire_end_place *place),
		   void *arg, struct file_size *size);
/* Returns when all servers of the file have its data on stable storage. */
int size_sync(struct session *s, uint64_t handle, const struct dist *dist);

#endif
