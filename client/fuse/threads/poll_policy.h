/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll_policy.h - whether the listening thread polls for another request before it sleeps.
 *
 * Polling pays if a program calls again soon (spin.h), because a wake-up takes longer.
 * Polling does not pay if as many programs send requests as there are processors: it
 * takes processor time from them.  Nor does it pay, as measured, after a long transfer
 * (docs/measured/mount.md).
 */
#ifndef POLL_POLICY_H
#define POLL_POLICY_H

#include <stddef.h>

#include "common/util/spin.h"

#define POLL_POLICY_RECENT 8u /* requests */
#define POLL_POLICY_LONG (256u << 10) /* bytes */

struct poll_policy {
	unsigned int processors; /* available to this process */
	/* the requesting threads; 0: the kernel */
	uint32_t recent[POLL_POLICY_RECENT];
	unsigned int n; /* requests so far */
	bool was_long; /* the last request was long */
	/* the recent requests came from as many threads as there are processors */
	bool crowded;
	struct spin spin;
};

void poll_policy_init(struct poll_policy *p);
/* Called when there is no request: the wait begins. */
void poll_policy_wait_start(struct poll_policy *p);
/* Called when there is no request yet.  Returns true if the thread should poll again. */
bool poll_policy_poll_again(struct poll_policy *p);
/* Called when a request came: len bytes, as the kernel sent it. */
void poll_policy_wait_end(struct poll_policy *p, const void *request,
			  size_t len);

#endif
