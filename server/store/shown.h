/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shown.h - sizes of objects in memory that clients read by RDMA, so that no process of the
 * server wakes up.
 *
 * The table has places, each for one object at a time.  A place shows what look() returns.
 * While a change of the object is in progress, the place tells clients to send a request.  When
 * the change leaves, the place shows the new state.  So a client that reads the table after a
 * request was answered sees at least the state of that answer.  While a late change is in
 * progress, clients have to send requests, and these wait (gate.h).
 *
 * The place of an object depends only on its handle.  Changes are counted in that place,
 * whether the object is shown there or not.  So no other state is needed when the object is
 * shown later.  All functions except shown_open() and shown_close() may be called from any
 * thread.
 *
 * For a table that is NULL, shown_enter() and shown_leave() do nothing, and there are no
 * places.
 */
#ifndef SHOWN_H
#define SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire/ends.h"

#define SHOWN_PLACES 4096u
#define SHOWN_BYTES 64u /* size of a place */
/* after a client last asked, a place is not given to another object for this time */
#define SHOWN_HOLD_MS 1000u
/* after no client asked for this time, a change ends the showing of the object */
#define SHOWN_IDLE_MS 60000u

struct shown;
struct shown_size { /* as in struct wire_objsize */
	uint64_t size, blocks, mtime;
};

struct shown_attr {
	unsigned int places;
	int (*look)(void *arg, uint64_t handle, struct shown_size *size);
	void *arg;
	uint64_t (*clock)(void); /* in ns */
};
/* -ENOMEM, or an error of random_id(). */
int shown_open(const struct shown_attr *attr, struct shown **shown);
void shown_close(struct shown *shown);
/* The table's memory, in whole pages, unchanged until shown_close().  shown must not be NULL. */
void *shown_memory(const struct shown *shown, size_t *len);

/* Call them around each change of the object, by this or another process. */
void shown_enter(struct shown *shown, uint64_t handle);
void shown_leave(struct shown *shown, uint64_t handle);
/*
 * A client asks where the object is shown.  True: it is shown from now on, at *at bytes, with
 * *tag.  False: its place belongs to another object for now.
 */
bool shown_place(struct shown *shown, uint64_t handle, size_t *at,
		 uint64_t *tag);
/* The number of objects in the table, approximately. */
unsigned int shown_count(const struct shown *shown);

#endif
