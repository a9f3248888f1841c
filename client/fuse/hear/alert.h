/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alert.h - whether who listens to the kernel looks for another request for a moment
 * before it sleeps.
 *
 * It pays where a program calls again soon (spin.h): to be woken up takes longer. Not so
 * where as many programs ask as there are processors, since it would be in their way;
 * nor, as far as was measured, after a long transfer (docs/measured/mount.md).
 */
#ifndef ALERT_H
#define ALERT_H

#include <stddef.h>

#include "common/util/spin.h"

#define ALERT_RECENT 8u /* requests */
#define ALERT_LONG (256u << 10) /* bytes */

struct alert {
	unsigned int processors; /* that we may use */
	uint32_t recent[ALERT_RECENT]; /* the threads that asked; 0: the kernel */
	unsigned int n; /* requests, ever */
	bool was_long; /* the last of them */
	bool crowded; /* as many programs asked lately as there are processors */
	struct spin spin;
};

void alert_init(struct alert *alert);
/* It has nothing to do. */
void alert_begin(struct alert *alert);
/* Nothing yet: whether to look again. */
bool alert_again(struct alert *alert);
/* Something came: the request as the kernel sent it, len bytes. */
void alert_end(struct alert *alert, const void *request, size_t len);

#endif
