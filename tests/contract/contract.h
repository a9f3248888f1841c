/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * contract.h - the specification of transport.h as tests.  Every case runs with a new world of the
 * provider under test, and no case knows which provider it is.
 */
#ifndef CONTRACT_H
#define CONTRACT_H

#include "tests/contract/harness.h"

#define DEPTH 8192u /* of the world's completion queues */

extern struct world world;
/* The provider's name on the command line, for tests that open more devices. */
const char *contract_provider(void);
/*
 * Returns n rounds or bytes, or n / CONTRACT_DIVIDE + 1 if the environment has this variable: for
 * emulated machines, on which some chapters would take very long.
 */
unsigned int contract_scaled(unsigned int n);
/* A case whose tests start with `world` open. */
TCase *contract_case(const char *name);
/* A case whose tests open everything themselves. */
TCase *contract_bare_case(const char *name);

/* The chapters; each relies on the earlier ones. */
TCase *case_device(void);
TCase *case_connect(void);
TCase *case_message(void);
TCase *case_rdma(void);
TCase *case_atomic(void);
TCase *case_access(void);
TCase *case_volatile(void);
TCase *case_limits(void);
TCase *case_close(void);
TCase *case_wait(void);
TCase *case_threads(void);
TCase *case_group(void);
TCase *case_bulk(void);
TCase *case_many(void);
TCase *case_killed(void);
TCase *case_fork(void);
TCase *case_pass(void);
TCase *case_shared(void);

#endif
