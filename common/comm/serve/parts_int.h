/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parts_int.h - where the time of a request is spent, and the log line about a slow one.  Reads
 * no clock for that: it uses the times that the context and the statistics read anyway.
 */
#ifndef PARTS_INT_H
#define PARTS_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/comm/serve/rpc_req.h"

#define PARTS_LINES 4u /* maximum lines of a lane in a second */

struct rx;

/* Times of one request. */
struct parts {
	uint64_t since; /* clock_boot() up to which ns[] is filled in */
	uint64_t ns[RPC_PARTS];
	uint16_t in[RPC_PARTS]; /* entered and not left */
	bool unhurried;
};

/* State of a lane. */
struct parts_pace {
	uint64_t second; /* clock_boot() at its start */
	unsigned int lines; /* in this second */
	uint64_t more; /* slow requests without a line since the last line */
};

/* The request begins. */
void parts_begin(struct rx *rx);
/* The request is about to be answered with status; now: clock_boot(). */
void parts_end(struct rx *rx, uint64_t now, uint32_t status);

#endif
