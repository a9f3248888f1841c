/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shown.h - sizes of objects where clients read them by RDMA, and nobody wakes up.
 *
 * A table of places, each for one object at a time.  What a place shows is what
 * look() says: while a change of the object is being made it shows that one has to
 * ask, and when the change leaves it shows what became of it.  So whatever was answered is
 * seen by all who read later, and a change that is late keeps its object from being
 * read here as it keeps requests waiting (gate.h).
 *
 * An object's place is chosen by its handle alone, and changes are counted in the place
 * of their object whether it is shown there or not: that is all that who comes
 * later has to know.  All functions but the first two may be called from any thread.
 *
 * NULL is a table that nobody reads: changes pass it, and it has no places.
 */
#ifndef SHOWN_H
#define SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/ends.h"

#define SHOWN_PLACES 4096u
#define SHOWN_BYTES 64u /* of a place */
#define SHOWN_HOLD_MS 1000u /* not another's before that */
#define SHOWN_IDLE_MS 60000u /* nobody asked: it is not shown any more */

struct shown;
struct shown_size { /* struct wire_objsize */
	uint64_t size, blocks, mtime;
};

struct shown_attr {
	unsigned int places;
	int (*look)(void *arg, uint64_t handle, struct shown_size *size);
	void *arg;
	uint64_t (*clock)(void); /* ns */
};
/* -ENOMEM, or as random_id(). */
int shown_open(const struct shown_attr *attr, struct shown **shown);
void shown_close(struct shown *shown);
/* The table's, whole pages, the same until shown_close(); not of NULL. */
void *shown_memory(const struct shown *shown, size_t *len);

/* Around each change of the object, by this process or by others. */
void shown_enter(struct shown *shown, uint64_t handle);
void shown_leave(struct shown *shown, uint64_t handle);
/*
 * Somebody wants to know where it is shown: from now on it is, at *at bytes, with
 * *tag.  False: that place is another object's, for now.
 */
bool shown_place(struct shown *shown, uint64_t handle, size_t *at,
		 uint64_t *tag);
/* How many objects are shown now, more or less. */
unsigned int shown_count(const struct shown *shown);

#endif
