/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alert.h - whether the listening thread polls for another request before it sleeps.
 *
 * Polling pays if a program calls again soon (spin.h), because a wake-up takes longer.
 * Polling does not pay if as many programs send requests as there are processors: it
 * takes processor time from them.  Nor does it pay, as measured, after a long transfer
 * (docs/measured/mount.md).
 */
#ifndef ALERT_H
#define ALERT_H

#include <stddef.h>

#include "common/util/spin.h"

#define ALERT_RECENT 8u /* requests */
#define ALERT_LONG (256u << 10) /* bytes */

struct alert {
	unsigned int processors; /* available to this process */
	/* the requesting threads; 0: the kernel */
	uint32_t recent[ALERT_RECENT];
	unsigned int n; /* requests so far */
	bool was_long; /* the last request was long */
	/* the recent requests came from as many threads as there are processors */
	bool crowded;
	struct spin spin;
};

void alert_init(struct alert *alert);
/* There is no request: the wait begins. */
void alert_begin(struct alert *alert);
/* No request yet: whether to poll again. */
bool alert_again(struct alert *alert);
/* A request came: len bytes, as the kernel sent it. */
void alert_end(struct alert *alert, const void *request, size_t len);

#endif
