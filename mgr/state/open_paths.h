/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * open_paths.h - the paths by which files were opened recently, to tell administrators
 * which file a handle is.  The number of entries is fixed, and a newly opened file may
 * replace another one.  After a rename the entry has the old name until the file is
 * opened again.
 */
#ifndef OPEN_PATHS_H
#define OPEN_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define OPEN_PATHS_MAX 4096u

struct open_paths {
	struct {
		uint64_t handle;
		/* end of the path, then zeros */
		uint8_t name[WIRE_METRIC_NAME];
	} place[OPEN_PATHS_MAX];
};

/*
 * handle: as clients know it.  Stores the last WIRE_METRIC_NAME bytes of the path, and
 * nothing for an empty path.  paths may be NULL, here and below.
 */
void open_paths_note(struct open_paths *paths, uint64_t handle,
		     const char *path, size_t len);
/* name is all zeros if the handle is not known. */
void open_paths_find(const struct open_paths *paths, uint64_t handle,
		     uint8_t name[WIRE_METRIC_NAME]);

#endif
