/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * called.h - by which paths files were opened lately, to tell administrators which file a
 * handle is.  A fixed number of places; who opens a file may take another one's.  Behind
 * a later rename it is the old name, until somebody opens the file.
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
		uint8_t name[WIRE_METRIC_NAME]; /* the path's end, then zeros */
	} place[CALLED_PLACES];
};

/* handle: as clients know it.  The path's last WIRE_METRIC_NAME bytes are kept; of an empty one nothing.  called may be
 * NULL, here and below. */
void called_note(struct called *called, uint64_t handle, const char *path,
		 size_t len);
/* Zeros: not known. */
void called_get(const struct called *called, uint64_t handle,
		uint8_t name[WIRE_METRIC_NAME]);

#endif
