/* SPDX-License-Identifier: BSD-2-Clause */
/* block_table.c - the table of blocks that clients read, and the state of each place. */
#include "server/store/block_table.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>

#include "common/wire/block.h"

#define PAGE 4096u
#define BUCKETS_MIN 1024u

struct block_place {
	uint64_t handle,
		number; /* of the block in this place; handle 0: none */
	/* the block that was read last and is not in this place */
	uint64_t last_handle, last_number;
	bool filling;
	LIST_ENTRY(block_place) link; /* in the bucket of its object */
};

struct bucket {
	LIST_HEAD(, block_place) places;
	unsigned int busy; /* changes of objects of this bucket in progress */
	uint64_t changes; /* that have begun so far */
};

struct block_table {
	pthread_mutex_t lock; /* not held during a read of an object */
	/* the places, in the memory that clients read */
	struct wire_block *block;
	size_t len;
	uint64_t places;
	atomic_uint blocks;
	_Atomic uint64_t filled;
	/* nbuckets of them, chosen by the handle of the object */
	struct bucket *bucket;
	uint64_t nbuckets;
	struct block_place place[];
};

static void free_all(struct block_table *table)
{
	if (table->block != MAP_FAILED)
		munmap(table->block, table->len);
	free(table->bucket);
	free(table);
}

int block_table_open(uint64_t bytes, struct block_table **out)
{
	uint64_t places = bytes / sizeof(struct wire_block);
	struct block_table *table;

	places = places ? places : 1;
	table = calloc(1, sizeof(*table) + places * sizeof(struct block_place));
	if (!table)
		return -ENOMEM;
	table->places = places;
	/* with fewer buckets, changes of other objects would remove blocks that are being read */
	table->nbuckets = places < BUCKETS_MIN ? BUCKETS_MIN : places;
	table->bucket = calloc(table->nbuckets, sizeof(struct bucket));
	table->len = places * sizeof(struct wire_block);
	table->len = (table->len + PAGE - 1) / PAGE * PAGE;
	table->block = mmap(NULL, table->len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table->block == MAP_FAILED || !table->bucket) {
		free_all(table);
		return -ENOMEM;
	}
	pthread_mutex_init(&table->lock, NULL);
	*out = table;
	return 0;
}

void block_table_close(struct block_table *table)
{
	if (!table)
		return;
	pthread_mutex_destroy(&table->lock);
	free_all(table);
}

void *block_table_memory(const struct block_table *table, size_t *len,
			 uint64_t *places)
{
	*len = table->len;
	*places = table->places;
	return table->block;
}

uint64_t block_table_filled(const struct block_table *table)
{
	return table ? atomic_load(&table->filled) : 0;
}

unsigned int block_table_blocks(const struct block_table *table)
{
	return table ? atomic_load(&table->blocks) : 0;
}

static struct bucket *bucket_of(struct block_table *table, uint64_t handle)
{
	uint64_t mix = handle * 0x9e3779b97f4a7c15ull;

	return &table->bucket[(mix >> 32) % table->nbuckets];
}

static struct wire_block *block_of(struct block_table *table,
				   const struct block_place *place)
{
	return &table->block[place - table->place];
}

/* ---- the functions below need the lock ---- */

/* Stores word by word, because clients read concurrently.  The check value does not match what
 * such a read gets. */
static void store_head(struct wire_block *to, const struct wire_block *head)
{
	__atomic_store_n(&to->handle, head->handle, __ATOMIC_RELAXED);
	__atomic_store_n(&to->number, head->number, __ATOMIC_RELAXED);
	__atomic_store_n(&to->version, head->version, __ATOMIC_RELAXED);
	__atomic_store_n(&to->len, head->len, __ATOMIC_RELAXED);
	__atomic_store_n(&to->check, head->check, __ATOMIC_RELAXED);
	/* visible before the change begins, and before its answer is sent */
	atomic_thread_fence(memory_order_seq_cst);
}

static void remove_block(struct block_table *table, struct block_place *place)
{
	struct wire_block *block = block_of(table, place);
	const struct wire_block none = { .version = block->version };

	store_head(block, &none);
	LIST_REMOVE(place, link);
	place->handle = 0;
	atomic_fetch_sub(&table->blocks, 1);
}

static bool holds_block(const struct block_place *place, uint64_t handle,
			uint64_t number)
{
	return place->handle == handle && place->number == number;
}

/*
 * Records a read of the block.  Returns true if the read recorded before at this place was of
 * the same block.
 */
static bool is_hot(struct block_place *place, uint64_t handle, uint64_t number)
{
	bool hot = place->last_handle == handle && place->last_number == number;

	place->last_handle = handle;
	place->last_number = number;
	return hot;
}

static bool may_fill(struct block_table *table, struct block_place *place,
		     uint64_t handle, uint64_t number)
{
	if (place->filling || holds_block(place, handle, number) ||
	    !is_hot(place, handle, number) || bucket_of(table, handle)->busy)
		return false;
	if (place->handle)
		remove_block(table, place);
	place->filling = true;
	return true;
}

static void publish_block(struct block_table *table, struct block_place *place,
			  const struct wire_block *head)
{
	place->handle = le64toh(head->handle);
	place->number = le64toh(head->number);
	LIST_INSERT_HEAD(&bucket_of(table, place->handle)->places, place, link);
	store_head(block_of(table, place), head);
	atomic_fetch_add(&table->blocks, 1);
	atomic_fetch_add(&table->filled, 1);
}

/* ---- changes ---- */

void block_table_change_begin(struct block_table *table, uint64_t handle)
{
	struct block_place *place, *next;
	struct bucket *bucket;

	if (!table)
		return;
	pthread_mutex_lock(&table->lock);
	bucket = bucket_of(table, handle);
	bucket->busy++;
	bucket->changes++;
	for (place = LIST_FIRST(&bucket->places); place; place = next) {
		next = LIST_NEXT(place, link);
		remove_block(table, place);
	}
	pthread_mutex_unlock(&table->lock);
}

void block_table_change_end(struct block_table *table, uint64_t handle)
{
	if (!table)
		return;
	pthread_mutex_lock(&table->lock);
	bucket_of(table, handle)->busy--;
	pthread_mutex_unlock(&table->lock);
}

/* ---- filling ---- */

/* The data is already in the place.  No client uses it, because the place has no head yet. */
static bool make_head(const struct wire_block *block, uint64_t handle,
		      uint64_t number, int len, struct wire_block *head)
{
	if (len <= 0)
		return false;
	*head = *block;
	head->handle = htole64(handle);
	head->number = htole64(number);
	head->version = htole64(le64toh(block->version) + 1);
	head->len = htole32((uint32_t)len);
	head->zero = 0;
	head->check = htole64(wire_block_check(head));
	return true;
}

static void fill_place(struct block_table *table, struct block_place *place,
		       uint64_t handle, uint64_t number, uint64_t changes,
		       block_read_fn read, void *arg)
{
	struct wire_block *block = block_of(table, place), head;
	int len = read(arg, block->data, number * WIRE_BLOCK);
	bool good = make_head(block, handle, number, len, &head);
	struct bucket *bucket = bucket_of(table, handle);

	pthread_mutex_lock(&table->lock);
	place->filling = false;
	if (good && bucket->changes == changes)
		publish_block(table, place, &head);
	pthread_mutex_unlock(&table->lock);
}

void block_table_note_block(struct block_table *table, uint64_t handle,
			    uint64_t number, block_read_fn read, void *arg)
{
	struct block_place *place;
	uint64_t changes;
	bool may;

	if (!table)
		return;
	place = &table->place[wire_block_place(handle, number, table->places)];
	pthread_mutex_lock(&table->lock);
	may = may_fill(table, place, handle, number);
	changes = bucket_of(table, handle)->changes;
	pthread_mutex_unlock(&table->lock);
	if (may)
		fill_place(table, place, handle, number, changes, read, arg);
}
