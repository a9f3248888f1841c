/* SPDX-License-Identifier: BSD-2-Clause */
/* lookout.c - see lookout.h. */
#include "common/util/lookout.h"

#include <stddef.h>

static _Thread_local struct lookout *mine;

void lookout_take(struct lookout *l)
{
	mine = l;
}

int lookout_fd(void)
{
	return mine ? mine->fd : -1;
}

void lookout_leave(void)
{
	struct lookout *l = mine;

	mine = NULL;
	if (l)
		l->leave(l);
}
