/* SPDX-License-Identifier: BSD-2-Clause */
/* objpath.c - names of objects in the hashed tree. */
#include <inttypes.h>
#include <stdio.h>

#include "server/store/objpath.h"

/* Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4): the top bits depend on all bits of the handle. */
unsigned int objpath_leaf(uint64_t handle)
{
	return (unsigned int)((handle * 0x9e3779b97f4a7c15ull) >> 52);
}

void objpath_make(uint64_t handle, char path[OBJPATH_LEN])
{
	unsigned int leaf = objpath_leaf(handle);

	snprintf(path, OBJPATH_LEN, "%02x/%02x/%016" PRIx64,
		 leaf / OBJPATH_FAN % OBJPATH_FAN, leaf % OBJPATH_FAN, handle);
}
