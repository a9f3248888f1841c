/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parts_int.h - where the time of a request goes, and the line in the log about one that
 * was slow.  No clock is read for it: what the context knows, and what statistics
 * read, is enough.
 */
#ifndef PARTS_INT_H
#define PARTS_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/comm/serve/rpc_req.h"

#define PARTS_LINES 4u /* of a lane, in a second */

struct rx;

/* Of one request. */
struct parts {
	uint64_t since; /* clock_boot(): until then it is divided */
	uint64_t ns[RPC_PARTS];
	uint16_t in[RPC_PARTS]; /* entered and not left */
	bool unhurried;
};

/* Of a lane. */
struct parts_pace {
	uint64_t second; /* clock_boot() at its beginning */
	unsigned int lines; /* in it */
	uint64_t more; /* slow ones without a line since the last line */
};

/* It begins. */
void parts_begin(struct rx *rx);
/* It is about to be answered with status, at now of clock_boot(). */
void parts_end(struct rx *rx, uint64_t now, uint32_t status);

#endif
