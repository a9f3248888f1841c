/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mock_tp.h - a transport inside one thread, for deterministic faults.  Every executed work request
 * counts two steps, one before and one after it, and the connection breaks at a chosen step.  Link
 * it instead of pvfs_transport.  It is strict: a SEND that finds no receive, or more requests than
 * agreed, aborts the test.  With shared receives, such a SEND waits.
 */
#ifndef MOCK_TP_H
#define MOCK_TP_H

#include <stdbool.h>

#include "common/transport/transport.h"

struct mock {
	int step; /* number of steps so far */
	int break_at; /* the step of the break; 0: never */
	int why; /* status at the sender; 0: the other end resets */
	bool broke;
	bool freeze; /* no data moves */
	bool restless; /* waits return at once */
	int connects; /* number of connects */
	int mrs; /* number of registrations */
	bool pins; /* registration pins memory, as for an adapter */
	bool no_mr; /* no new registrations */
	uint32_t spoil_imm; /* these bits of the next immediate are flipped */
	bool srq; /* shared receive queues exist */
	unsigned int waited; /* messages that found no shared receive */
	/* identity of every peer; NULL: unknown */
	const struct tp_identity *identity;
	const char *from; /* address of the next connecting peer; NULL: unknown */
	bool scarce; /* of the next connecting peer: tp_req_scarce() */
	bool seals; /* its connections can be sealed */
	unsigned int sealed; /* number of sealed ends */
	unsigned int quiet_ms; /* tp_ep_quiet_ms() of every connection */
};
extern struct mock mock;

#endif
