/* SPDX-License-Identifier: BSD-2-Clause */
/* open_paths.c - see open_paths.h. */
#include "mgr/state/open_paths.h"

#include <string.h>

static unsigned int place_of(uint64_t handle)
{
	return (unsigned int)(handle * UINT64_C(0x9e3779b97f4a7c15) >> 52) %
	       OPEN_PATHS_MAX;
}

void open_paths_note(struct open_paths *paths, uint64_t handle,
		     const char *path, size_t len)
{
	unsigned int at = place_of(handle);
	size_t skip = len > WIRE_METRIC_NAME ? len - WIRE_METRIC_NAME : 0;

	if (!paths || !len)
		return;
	paths->place[at].handle = handle;
	memset(paths->place[at].name, 0, WIRE_METRIC_NAME);
	memcpy(paths->place[at].name, path + skip, len - skip);
}

void open_paths_find(const struct open_paths *paths, uint64_t handle,
		     uint8_t name[WIRE_METRIC_NAME])
{
	unsigned int at = place_of(handle);

	memset(name, 0, WIRE_METRIC_NAME);
	if (paths && handle && paths->place[at].handle == handle)
		memcpy(name, paths->place[at].name, WIRE_METRIC_NAME);
}
