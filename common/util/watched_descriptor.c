/* SPDX-License-Identifier: BSD-2-Clause */
/* watched_descriptor.c - see watched_descriptor.h. */
#include "common/util/watched_descriptor.h"

#include <stddef.h>

static _Thread_local struct watched_descriptor *mine;

void watched_descriptor_set(struct watched_descriptor *l)
{
	mine = l;
}

int watched_descriptor_fd(void)
{
	return mine ? mine->fd : -1;
}

void watched_descriptor_hand_over(void)
{
	struct watched_descriptor *l = mine;

	mine = NULL;
	if (l)
		l->hand_over(l);
}
