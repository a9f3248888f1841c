/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * greet.h - both ends of a connection prove that they have the job's key, about this
 * connection, before anything else is said:
 *
 *	who listens:  pvfs-job 1 NONCE
 *	who came:     hello KIND RANK NONCE CODE
 *	who listens:  welcome CODE
 */
#ifndef JOB_GREET_H
#define JOB_GREET_H

#include <stdint.h>

#include "client/tools/job/parts/job.h"
#include "client/tools/job/parts/link.h"

#define GREET_NONCE 16u

struct greet {
	uint8_t nonce[GREET_NONCE];
};

/* Who listens.  0, or -errno. */
int greet_begin(struct greet *g, struct link *l);
/* The answer: 0, *rank, and the welcome was said; or -EACCES, -EPROTO. */
int greet_check(const struct greet *g, struct link *l,
		const uint8_t key[MAC_KEY_LEN], const char *kind, char *line,
		unsigned int *rank);
/* Who came; waits.  0; -EACCES: the other end has not the key; -errno. */
int greet_come(struct link *l, const uint8_t key[MAC_KEY_LEN], const char *kind,
	       unsigned int rank, uint64_t deadline);

/* The same from the beginning: connects, and does so anew when there was no place.  0, and l is
 * the caller's; or as link_connect() and greet_come(). */
int greet_meet(struct link *l, const struct job_addr *at,
	       const uint8_t key[MAC_KEY_LEN], const char *kind,
	       unsigned int rank, uint64_t deadline);

#endif
