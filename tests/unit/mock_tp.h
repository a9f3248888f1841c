/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mock_tp.h - a transport inside one thread, for deterministic faults.  Every executed work request
 * counts two steps, one before and one after, and at a chosen step the connection breaks.  Link it
 * instead of pvfs_transport.  It is strict: a SEND that finds no receive, or more requests than
 * were asked for, is a bug and aborts.  If receives are shared, the SEND waits.
 */
#ifndef MOCK_TP_H
#define MOCK_TP_H

#include <stdbool.h>

#include "common/transport/transport.h"

struct mock {
	int step; /* counted up */
	int break_at; /* 0: never */
	int why; /* its status at the sender; 0: reset by the other end */
	bool broke;
	bool freeze; /* nothing moves */
	bool restless; /* waits return at once */
	int connects; /* requests made */
	int mrs; /* registrations alive */
	bool pins; /* registering does, and an adapter places bytes */
	bool no_mr; /* no new ones */
	uint32_t spoil_imm; /* the next immediate arrives with these bits changed */
	bool srq; /* there are shared receive queues */
	unsigned int waited; /* messages that found no shared receive */
	const struct tp_identity *identity; /* of every peer; NULL: unknown */
	const char *from; /* address of the next connecting peer; NULL: unknown */
	bool scarce; /* of the next connecting peer: tp_req_scarce() */
	bool seals; /* its connections can be sealed, */
	unsigned int sealed; /* and so many ends were */
	unsigned int quiet_ms; /* tp_ep_quiet_ms() of every connection */
};
extern struct mock mock;

#endif
