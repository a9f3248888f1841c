/* SPDX-License-Identifier: BSD-2-Clause */
/* refresh.h - the size of a file that the kernel has cached. */
#ifndef REFRESH_H
#define REFRESH_H

#include "client/preload/bypass/bypass.h"
#include "client/preload/own_call.h"

/* Called before the kernel uses that size: another client may have changed it. */
static inline void refresh_attributes(int fd)
{
	struct bypass *b;

	if (fd < 0 || own_call_active())
		return;
	own_call_enter();
	b = bypass_existing();
	if (b)
		desc_refresh(&b->descs, fd);
	own_call_leave();
}

#endif
