/* SPDX-License-Identifier: BSD-2-Clause */
/* size_table.c - the table of sizes that clients read, and the state of each place. */
#include "server/store/size_table.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/random_id.h"

#define PAGE 4096u

_Static_assert(sizeof(struct wire_end) <= SIZE_TABLE_PLACE_BYTES, "a place");

struct size_place {
	pthread_mutex_t lock;
	struct object_key key; /* handle 0: no object */
	uint64_t asked; /* when a client asked last, attr.clock() */
	/* changes in progress of all objects that belong to this place */
	unsigned int busy;
	/* it shows the size; otherwise clients have to send a request */
	bool shown;
};

struct size_table {
	struct size_table_attr attr;
	uint8_t *memory;
	size_t len;
	_Atomic uint64_t tag; /* the tag given last */
	atomic_uint count;
	struct size_place place[];
};

static void free_places(struct size_table *table)
{
	unsigned int i;

	for (i = 0; i < table->attr.places; i++)
		pthread_mutex_destroy(&table->place[i].lock);
	free(table->memory);
	free(table);
}

int size_table_open(const struct size_table_attr *attr, struct size_table **out)
{
	size_t len = (size_t)attr->places * SIZE_TABLE_PLACE_BYTES;
	struct size_table *table;
	uint64_t first;
	unsigned int i;
	int rc = random_id(&first);

	if (rc)
		return rc;
	table = calloc(1, sizeof(*table) +
				  attr->places * sizeof(struct size_place));
	if (!table)
		return -ENOMEM;
	table->attr = *attr;
	table->len = (len + PAGE - 1) / PAGE * PAGE;
	table->memory = aligned_alloc(PAGE, table->len);
	atomic_init(&table->tag, first);
	for (i = 0; i < attr->places; i++)
		pthread_mutex_init(&table->place[i].lock, NULL);
	if (!table->memory) {
		free_places(table);
		return -ENOMEM;
	}
	memset(table->memory, 0, table->len);
	*out = table;
	return 0;
}

void size_table_close(struct size_table *table)
{
	if (table)
		free_places(table);
}

void *size_table_memory(const struct size_table *table, size_t *len)
{
	*len = table->len;
	return table->memory;
}

unsigned int size_table_count(const struct size_table *table)
{
	return table ? atomic_load(&table->count) : 0;
}

static unsigned int index_of(const struct size_table *table,
			     struct object_key key)
{
	return object_key_hash(key) % table->attr.places;
}

static struct wire_end *words_of(const struct size_table *table,
				 const struct size_place *place)
{
	size_t at = (size_t)(place - table->place) * SIZE_TABLE_PLACE_BYTES;

	return (struct wire_end *)(void *)(table->memory + at);
}

/* ---- contents of a place: the functions below need its lock ---- */

/* Stores word by word, because clients read concurrently.  The check value does not match what
 * such a read gets. */
static void store_words(struct wire_end *words, struct wire_end now)
{
	now.version = htole64(le64toh(words->version) + 1);
	now.check = htole64(wire_end_check(&now));
	__atomic_store_n(&words->tag, now.tag, __ATOMIC_RELAXED);
	__atomic_store_n(&words->size, now.size, __ATOMIC_RELAXED);
	__atomic_store_n(&words->blocks, now.blocks, __ATOMIC_RELAXED);
	__atomic_store_n(&words->mtime, now.mtime, __ATOMIC_RELAXED);
	__atomic_store_n(&words->version, now.version, __ATOMIC_RELAXED);
	__atomic_store_n(&words->check, now.check, __ATOMIC_RELAXED);
	/* visible before the change begins, and before its answer is sent */
	atomic_thread_fence(memory_order_seq_cst);
}

static void hide_size(struct size_table *table, struct size_place *place)
{
	struct wire_end *words = words_of(table, place);

	store_words(words, (struct wire_end){ .tag = words->tag,
					      .size = htole64(WIRE_END_ASK) });
	place->shown = false;
}

static void show_size(struct size_table *table, struct size_place *place)
{
	struct wire_end *words = words_of(table, place);
	struct object_size now;

	if (table->attr.look(table->attr.arg, place->key, &now))
		return; /* clients continue to send requests */
	store_words(words, (struct wire_end){ .tag = words->tag,
					      .size = htole64(now.size),
					      .blocks = htole64(now.blocks),
					      .mtime = htole64(now.mtime) });
	place->shown = true;
}

static void clear_place(struct size_table *table, struct size_place *place)
{
	store_words(words_of(table, place), (struct wire_end){ 0 });
	place->key = object_key_own(0);
	place->shown = false;
	atomic_fetch_sub(&table->count, 1);
}

static void give_place(struct size_table *table, struct size_place *place,
		       struct object_key key)
{
	uint64_t tag = atomic_fetch_add(&table->tag, 1) + 1;

	if (!place->key.handle)
		atomic_fetch_add(&table->count, 1);
	place->key = key;
	store_words(words_of(table, place),
		    (struct wire_end){ .tag = htole64(tag ? tag : 1),
				       .size = htole64(WIRE_END_ASK) });
	place->shown = false;
}

static bool is_unused_since(const struct size_table *table,
			    const struct size_place *place, unsigned int ms)
{
	return table->attr.clock() - place->asked >= ms * CLOCK_NS_PER_MS;
}

/* ---- changes ---- */

void size_table_change_begin(struct size_table *table, struct object_key key)
{
	struct size_place *place;

	if (!table)
		return;
	place = &table->place[index_of(table, key)];
	pthread_mutex_lock(&place->lock);
	place->busy++;
	if (object_key_equal(place->key, key) && place->shown)
		hide_size(table, place);
	pthread_mutex_unlock(&place->lock);
}

void size_table_change_end(struct size_table *table, struct object_key key)
{
	struct size_place *place;

	if (!table)
		return;
	place = &table->place[index_of(table, key)];
	pthread_mutex_lock(&place->lock);
	if (!--place->busy && place->key.handle && !place->shown) {
		if (is_unused_since(table, place, SIZE_TABLE_IDLE_MS))
			clear_place(table, place);
		else
			show_size(table, place);
	}
	pthread_mutex_unlock(&place->lock);
}

bool size_table_place(struct size_table *table, struct object_key key,
		      size_t *at, uint64_t *tag)
{
	struct size_place *place;
	unsigned int i;
	bool ours;

	if (!table)
		return false;
	i = index_of(table, key);
	place = &table->place[i];
	pthread_mutex_lock(&place->lock);
	if (!object_key_equal(place->key, key) &&
	    (!place->key.handle ||
	     is_unused_since(table, place, SIZE_TABLE_HOLD_MS)))
		give_place(table, place, key);
	ours = object_key_equal(place->key, key);
	if (ours) {
		place->asked = table->attr.clock();
		if (!place->shown && !place->busy)
			show_size(table, place);
		*at = (size_t)i * SIZE_TABLE_PLACE_BYTES;
		*tag = le64toh(words_of(table, place)->tag);
	}
	pthread_mutex_unlock(&place->lock);
	return ours;
}
