/* SPDX-License-Identifier: BSD-2-Clause */
/* libc.c - see libc.h. */
#include "client/preload/route/libc.h"

#include <dlfcn.h>
#include <errno.h>

struct libc libc_table;

/* Threads may do this concurrently: all find the same. */
void libc_find(void)
{
	int saved = errno;

#define LIBC_FIND(type, field, symbol, args)                                   \
	*(void **)&libc_table.field = dlsym(RTLD_NEXT, #symbol);
	LIBC_CALLS(LIBC_FIND)
#undef LIBC_FIND
	__atomic_store_n(&libc_table.found, true, __ATOMIC_RELEASE);
	errno = saved;
}
