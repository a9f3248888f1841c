/* SPDX-License-Identifier: BSD-2-Clause */
/* under.c - see under.h. */
#include "client/preload/paths/under.h"

#include <dlfcn.h>
#include <errno.h>

const struct under *under_found;

/* Threads may do this concurrently: all find the same. */
const struct under *under_find(void)
{
	static struct under calls;
	int saved = errno;

#define UNDER_FIND(type, field, symbol, args)                                  \
	*(void **)&calls.field = dlsym(RTLD_NEXT, #symbol);
	UNDER_CALLS(UNDER_FIND)
#undef UNDER_FIND
	__atomic_store_n(&under_found, &calls, __ATOMIC_RELEASE);
	errno = saved;
	return &calls;
}
