/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * greet.h - both ends of a connection prove that they have the job's key, for this
 * connection, before anything else is sent:
 *
 *	listener:   pvfs-job 1 NONCE
 *	caller:     hello KIND RANK NONCE CODE
 *	listener:   welcome CODE
 */
#ifndef JOB_GREET_H
#define JOB_GREET_H

#include <stdint.h>

#include "client/tools/job/parts/job.h"
#include "client/tools/job/parts/link.h"
#include "client/tools/job/parts/sockets.h"

#define GREET_NONCE 16u

struct greet {
	uint8_t nonce[GREET_NONCE];
};

/* For the listening end: sends its greeting, which has a random nonce.  0 or -errno. */
int greet_begin(struct greet *g, struct job_link *l);
/*
 * Checks the caller's answer, sends the welcome and sets *rank.  Returns 0; -EACCES: the caller
 * does not have the key; -EPROTO: the line is invalid; or the error of link_say().
 */
int greet_check(const struct greet *g, struct job_link *l,
		const uint8_t key[MAC_KEY_LEN], const char *kind, char *line,
		unsigned int *rank);
/*
 * For the connecting end: receives the greeting of the listener, proves the key, and checks the
 * proof of the listener.  Blocks, until deadline.  Returns 0; -EACCES: the listener does not
 * have the key; -EPROTO: an invalid greeting; or another -errno.
 */
int greet_come(struct job_link *l, const uint8_t key[MAC_KEY_LEN],
	       const char *kind, unsigned int rank, uint64_t deadline);

/*
 * Connects to at, and exchanges the greetings.  If the listener has no place, connects again.
 * Returns 0: the caller owns l; or an error of job_connect() or greet_come().
 */
int greet_meet(struct job_link *l, const struct job_addr *at,
	       const uint8_t key[MAC_KEY_LEN], const char *kind,
	       unsigned int rank, uint64_t deadline);

#endif
