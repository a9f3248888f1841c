/* SPDX-License-Identifier: BSD-2-Clause */
/* faults.h - tests of the fault provider, each with a new wrapped world. */
#ifndef FAULTS_H
#define FAULTS_H

#include "common/transport/fault/fault.h"
#include "tests/contract/harness.h"

#define PROVIDER "fault+tcp"
#define ALL                                                                    \
	(TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE | TP_REMOTE_ATOMIC)
#define MSG 64u /* bytes of the messages below */

extern struct world world;

/* Replaces the rules of side a, or b, of the world. */
void rules_a(const char *text);
void rules_b(const char *text);

/* Posts one signaled message of MSG bytes with mem_fill(seed). */
void post_message(struct tp_ep *ep, struct side *s, uint64_t wr_id,
		  uint64_t seed);
/* Posts a receive of MSG bytes.  Returns its memory. */
struct mem *post_receive(struct tp_ep *ep, struct side *s, uint64_t wr_id);

TCase *case_rules(void);
TCase *case_messages(void);
TCase *case_breaks(void);
TCase *case_pauses(void);
TCase *case_connects(void);
TCase *case_control(void);
TCase *case_switching(void);
TCase *case_sweep(void);

/* A case whose tests start with `world` open. */
TCase *world_case(const char *name);

#endif
