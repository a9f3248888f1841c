/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * size_table.h - sizes of objects in memory that clients read by RDMA, so that no process of the
 * server wakes up.
 *
 * The table has places, each for one object at a time.  A place shows the size that look()
 * returns. While a change of the object is in progress, the place tells clients to send a request
 * instead. When the change has ended, the place shows the new size.  So a client that reads the
 * table after a change was answered sees at least the size of that change.  While a late change
 * is in progress, the requests that clients send wait for it (gate.h).
 *
 * The place of an object depends only on its key.  Changes are counted in that place, whether
 * the object is shown there or not.  So no other state is needed when the object is shown later.
 * All functions except size_table_open() and size_table_close() may be called from any thread.
 *
 * For a table that is NULL, size_table_change_begin() and size_table_change_end() do nothing, and
 * there are no places.
 */
#ifndef SIZE_TABLE_H
#define SIZE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/dist/object_key.h"
#include "common/wire/ends.h"

#define SIZE_TABLE_PLACES 4096u
#define SIZE_TABLE_PLACE_BYTES 64u /* size of a place */
/* after a client last asked, a place is not given to another object for this time */
#define SIZE_TABLE_HOLD_MS 1000u
/* after no client asked for this time, a change ends the showing of the object */
#define SIZE_TABLE_IDLE_MS 60000u

struct size_table;
struct object_size { /* as in struct wire_objsize */
	uint64_t size, blocks, mtime;
};

struct size_table_attr {
	unsigned int places;
	/* returns 0 and the present size of the object, or -errno */
	int (*look)(void *arg, struct object_key key, struct object_size *size);
	void *arg;
	uint64_t (*clock)(void); /* in ns */
};
/* -ENOMEM, or an error of random_id(). */
int size_table_open(const struct size_table_attr *attr,
		    struct size_table **table);
void size_table_close(struct size_table *table);
/*
 * The table's memory, in whole pages, unchanged until size_table_close().  table must not be NULL.
 */
void *size_table_memory(const struct size_table *table, size_t *len);

/* Call them around each change of the object, by this or another process. */
void size_table_change_begin(struct size_table *table, struct object_key key);
void size_table_change_end(struct size_table *table, struct object_key key);
/*
 * A client asks where the size of the object is.  True: from now on the table shows it, *at bytes
 * from its beginning, with the tag *tag.  False: the place of the object belongs to another object
 * for now.
 */
bool size_table_place(struct size_table *table, struct object_key key,
		      size_t *at, uint64_t *tag);
/* The number of objects in the table, approximately. */
unsigned int size_table_count(const struct size_table *table);

#endif
