/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fan.h - the same request to several iods at once.
 */
#ifndef FAN_H
#define FAN_H

#include "common/dist/dist.h"
#include "client/lib/session/session.h"

/*
 * Sends the message in out, which is not ended yet, to the servers k < pcount
 * of dist for which skip (may be NULL) does not say true, and waits for all.
 * aim(), if not NULL, makes it out's message for server k before it goes there.
 * take() gets each reply with status 0, on one thread at a time.  0, or the
 * first error.  once: the request changes something: if it may have been made
 * under a session that has ended, -ECONNABORTED, and it is not to be repeated.
 */
struct fan {
	struct session *s;
	const struct dist *dist;
	bool (*skip)(void *arg, uint32_t k);
	void (*aim)(void *arg, uint32_t k, void *msg);
	int (*take)(void *arg, uint32_t k, const struct wire_msg *reply);
	void *arg;
	bool once;
};
int fan_run(const struct fan *fan, enum wire_op op, struct wire_out *out);
/* The same with a message of just a body of len bytes, at most FAN_BODY_MAX. */
#define FAN_BODY_MAX 64u
int fan_ask(const struct fan *fan, enum wire_op op, const void *body,
	    size_t len);
/* All iods, as if one file were on them. */
struct dist fan_all(const struct session *s);
/*
 * Asks all iods whether they are there: one that is not, or that is of another
 * file system, is logged.  Does not wait.
 */
void fan_look(struct session *s);

/* What the iods know of a file. */
struct file_size {
	uint64_t size; /* bytes: what the objects imply */
	uint64_t blocks; /* 512 bytes each, in all */
	int64_t mtime; /* the latest, ns; 0: no object */
};
/* skip as above; size is what the others imply. */
int size_ask(struct session *s, uint64_t handle, const struct dist *dist,
	     bool (*skip)(void *arg, uint32_t k), void *arg,
	     struct file_size *size);
/* The same of all; place() hears of each answer that tells where it can be read. */
int size_ask_where(struct session *s, uint64_t handle, const struct dist *dist,
		   void (*place)(void *arg, uint32_t k,
				 const struct wire_end_place *place),
		   void *arg, struct file_size *size);
/* Returns when all servers of the file have its data on stable storage. */
int size_sync(struct session *s, uint64_t handle, const struct dist *dist);

#endif
