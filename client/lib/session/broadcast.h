/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * broadcast.h - the same request to several iods in parallel.
 */
#ifndef BROADCAST_H
#define BROADCAST_H

#include "common/dist/dist.h"
#include "client/lib/session/client_session.h"

/*
 * Sends the message in out, on which wire_end() was not called, to all servers k < pcount of
 * dist, and waits for their replies.  Returns 0 or the first error.
 * - skip(), if not NULL, returns true for a server that gets no message.
 * - aim(), if not NULL, adapts the message for server k before it is sent.
 * - take() gets each reply with status 0; the calls of take() do not overlap.
 * - once: the request is a change.  If the session ends while the change is in flight, the
 *   result is -ECONNABORTED, and the caller must not repeat the request.
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
/* broadcast_run() of a message without tail: a body of at most BROADCAST_BODY_MAX bytes. */
#define BROADCAST_BODY_MAX 64u
int broadcast_body(const struct broadcast *broadcast, enum wire_op op,
		   const void *body, size_t len);
/* Returns the distribution of a file on all iods. */
struct dist all_iods_dist(const struct session *s);
/*
 * Sends PING to all iods without waiting.  An iod that does not answer, or that belongs to
 * another file system, is logged later.
 */
void iods_check(struct session *s);

/* The state of a file at its iods. */
struct file_size {
	uint64_t size; /* bytes, computed from the sizes of the objects */
	uint64_t blocks; /* in units of 512 bytes, all objects together */
	int64_t mtime; /* the latest, ns; 0: there is no object */
};
/*
 * Asks the iods of the file for its size.  skip(), if not NULL, returns true for an iod that is
 * not asked; size is then computed from the others.  Returns 0 or the first error.
 */
int size_ask(struct session *s, uint64_t handle, const struct dist *dist,
	     bool (*skip)(void *arg, uint32_t k), void *arg,
	     struct file_size *size);
/* size_ask() of all iods; place() gets each reply that has the RDMA address of an object's size. */
int size_ask_where(struct session *s, uint64_t handle, const struct dist *dist,
		   void (*place)(void *arg, uint32_t k,
				 const struct wire_end_place *place),
		   void *arg, struct file_size *size);
/* Returns 0 when all iods of the file have its data on stable storage, or -errno. */
int size_sync(struct session *s, uint64_t handle, const struct dist *dist);

#endif
