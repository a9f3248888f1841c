/* SPDX-License-Identifier: BSD-2-Clause */
/* called.c - see called.h. */
#include "mgr/state/called.h"

#include <string.h>

static unsigned int place_of(uint64_t handle)
{
	return (unsigned int)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 52) %
	       CALLED_PLACES;
}

void called_note(struct called *called, uint64_t handle, const char *path,
		 size_t len)
{
	unsigned int at = place_of(handle);
	size_t skip = len > WIRE_METRIC_NAME ? len - WIRE_METRIC_NAME : 0;

	if (!called || !len)
		return;
	called->place[at].handle = handle;
	memset(called->place[at].name, 0, WIRE_METRIC_NAME);
	memcpy(called->place[at].name, path + skip, len - skip);
}

void called_get(const struct called *called, uint64_t handle,
		uint8_t name[WIRE_METRIC_NAME])
{
	unsigned int at = place_of(handle);

	memset(name, 0, WIRE_METRIC_NAME);
	if (called && handle && called->place[at].handle == handle)
		memcpy(name, called->place[at].name, WIRE_METRIC_NAME);
}
