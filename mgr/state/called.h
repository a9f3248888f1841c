/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * called.h - the paths by which files were opened recently, to tell administrators
 * which file a handle is.  The number of entries is fixed, and a newly opened file may
 * replace another one.  After a rename the entry has the old name until the file is
 * opened again.
 */
#ifndef CALLED_H
#define CALLED_H

#include <stddef.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define CALLED_PLACES 4096u

struct called {
	struct {
		uint64_t handle;
		/* end of the path, then zeros */
		uint8_t name[WIRE_METRIC_NAME];
	} place[CALLED_PLACES];
};

/*
 * handle: as clients know it.  Stores the last WIRE_METRIC_NAME bytes of the path, and
 * nothing for an empty path.  called may be NULL, here and below.
 */
void called_note(struct called *called, uint64_t handle, const char *path,
		 size_t len);
/* name is all zeros if the handle is not known. */
void called_get(const struct called *called, uint64_t handle,
		uint8_t name[WIRE_METRIC_NAME]);

#endif
