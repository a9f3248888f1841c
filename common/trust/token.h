/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * token.h - the validity of what the manager issues (tickets and capabilities): for which file
 * system, which session and how long.
 */
#ifndef TOKEN_H
#define TOKEN_H

#include <stdint.h>

/* Times are on the clock (CLOCK_BOOTTIME) of the manager of that term, in ns. */
struct token_limits {
	uint64_t fsid;
	uint64_t session;
	uint64_t term; /* term of the manager; grows with each of its starts */
	uint64_t expiry; /* the token is valid before this time */
};

/* The place and the time at which a token is presented. */
struct token_context {
	uint64_t fsid;
	uint64_t session; /* session of the connection */
	uint64_t oldest, newest; /* range of accepted terms */
	uint64_t now;
};

/*
 * Returns 0; -ENXIO if the token is for another file system; -EPERM if it is for another session;
 * -ESTALE if the term is not accepted; or -EKEYEXPIRED.
 */
int token_limits_check(const struct token_limits *limits,
		       const struct token_context *here);

#endif
