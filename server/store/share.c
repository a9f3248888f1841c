/* SPDX-License-Identifier: BSD-2-Clause */
/* share.c - the table of blocks that clients read, and the state of each place. */
#include "server/store/share.h"

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

struct place {
	uint64_t handle,
		number; /* of the block in this place; handle 0: none */
	/* the block that was read last and is not in this place */
	uint64_t seen_handle, seen_number;
	bool filling;
	LIST_ENTRY(place) link; /* in the bucket of its object */
};

struct bucket {
	LIST_HEAD(, place) places;
	unsigned int busy; /* changes of objects of this bucket in progress */
	uint64_t changes; /* that have begun so far */
};

struct share {
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
	struct place place[];
};

static void free_all(struct share *share)
{
	if (share->block != MAP_FAILED)
		munmap(share->block, share->len);
	free(share->bucket);
	free(share);
}

int share_open(uint64_t bytes, struct share **out)
{
	uint64_t places = bytes / sizeof(struct wire_block);
	struct share *share;

	places = places ? places : 1;
	share = calloc(1, sizeof(*share) + places * sizeof(struct place));
	if (!share)
		return -ENOMEM;
	share->places = places;
	/* with fewer buckets, changes of other objects would remove blocks that are being read */
	share->nbuckets = places < BUCKETS_MIN ? BUCKETS_MIN : places;
	share->bucket = calloc(share->nbuckets, sizeof(struct bucket));
	share->len = places * sizeof(struct wire_block);
	share->len = (share->len + PAGE - 1) / PAGE * PAGE;
	share->block = mmap(NULL, share->len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (share->block == MAP_FAILED || !share->bucket) {
		free_all(share);
		return -ENOMEM;
	}
	pthread_mutex_init(&share->lock, NULL);
	*out = share;
	return 0;
}

void share_close(struct share *share)
{
	if (!share)
		return;
	pthread_mutex_destroy(&share->lock);
	free_all(share);
}

void *share_memory(const struct share *share, size_t *len, uint64_t *places)
{
	*len = share->len;
	*places = share->places;
	return share->block;
}

uint64_t share_filled(const struct share *share)
{
	return share ? atomic_load(&share->filled) : 0;
}

unsigned int share_blocks(const struct share *share)
{
	return share ? atomic_load(&share->blocks) : 0;
}

static struct bucket *bucket_of(struct share *share, uint64_t handle)
{
	uint64_t mix = handle * 0x9e3779b97f4a7c15ull;

	return &share->bucket[(mix >> 32) % share->nbuckets];
}

static struct wire_block *block_of(struct share *share,
				   const struct place *place)
{
	return &share->block[place - share->place];
}

/* ---- the functions below need the lock ---- */

/* Stores word by word, because clients read concurrently.  The check value does not match what
 * such a read gets. */
static void put_head(struct wire_block *to, const struct wire_block *head)
{
	__atomic_store_n(&to->handle, head->handle, __ATOMIC_RELAXED);
	__atomic_store_n(&to->number, head->number, __ATOMIC_RELAXED);
	__atomic_store_n(&to->version, head->version, __ATOMIC_RELAXED);
	__atomic_store_n(&to->len, head->len, __ATOMIC_RELAXED);
	__atomic_store_n(&to->check, head->check, __ATOMIC_RELAXED);
	/* visible before the change begins, and before its answer is sent */
	atomic_thread_fence(memory_order_seq_cst);
}

static void take_away(struct share *share, struct place *place)
{
	struct wire_block *block = block_of(share, place);
	const struct wire_block none = { .version = block->version };

	put_head(block, &none);
	LIST_REMOVE(place, link);
	place->handle = 0;
	atomic_fetch_sub(&share->blocks, 1);
}

static bool is(const struct place *place, uint64_t handle, uint64_t number)
{
	return place->handle == handle && place->number == number;
}

/* The second read of this block, with no read of another block of this place in between. */
static bool is_hot(struct place *place, uint64_t handle, uint64_t number)
{
	bool hot = place->seen_handle == handle && place->seen_number == number;

	place->seen_handle = handle;
	place->seen_number = number;
	return hot;
}

static bool may_fill(struct share *share, struct place *place, uint64_t handle,
		     uint64_t number)
{
	if (place->filling || is(place, handle, number) ||
	    !is_hot(place, handle, number) || bucket_of(share, handle)->busy)
		return false;
	if (place->handle)
		take_away(share, place);
	place->filling = true;
	return true;
}

static void publish(struct share *share, struct place *place,
		    const struct wire_block *head)
{
	place->handle = le64toh(head->handle);
	place->number = le64toh(head->number);
	LIST_INSERT_HEAD(&bucket_of(share, place->handle)->places, place, link);
	put_head(block_of(share, place), head);
	atomic_fetch_add(&share->blocks, 1);
	atomic_fetch_add(&share->filled, 1);
}

/* ---- changes ---- */

void share_enter(struct share *share, uint64_t handle)
{
	struct place *place, *next;
	struct bucket *bucket;

	if (!share)
		return;
	pthread_mutex_lock(&share->lock);
	bucket = bucket_of(share, handle);
	bucket->busy++;
	bucket->changes++;
	for (place = LIST_FIRST(&bucket->places); place; place = next) {
		next = LIST_NEXT(place, link);
		take_away(share, place);
	}
	pthread_mutex_unlock(&share->lock);
}

void share_leave(struct share *share, uint64_t handle)
{
	if (!share)
		return;
	pthread_mutex_lock(&share->lock);
	bucket_of(share, handle)->busy--;
	pthread_mutex_unlock(&share->lock);
}

/* ---- filling ---- */

/* The data is already in the place.  No client uses it, because the place has no head yet. */
static bool prepare(const struct wire_block *block, uint64_t handle,
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

static void fill(struct share *share, struct place *place, uint64_t handle,
		 uint64_t number, uint64_t changes, share_read read, void *arg)
{
	struct wire_block *block = block_of(share, place), head;
	int len = read(arg, block->data, number * WIRE_BLOCK);
	bool good = prepare(block, handle, number, len, &head);
	struct bucket *bucket = bucket_of(share, handle);

	pthread_mutex_lock(&share->lock);
	place->filling = false;
	if (good && bucket->changes == changes)
		publish(share, place, &head);
	pthread_mutex_unlock(&share->lock);
}

void share_seen(struct share *share, uint64_t handle, uint64_t number,
		share_read read, void *arg)
{
	struct place *place;
	uint64_t changes;
	bool may;

	if (!share)
		return;
	place = &share->place[wire_block_place(handle, number, share->places)];
	pthread_mutex_lock(&share->lock);
	may = may_fill(share, place, handle, number);
	changes = bucket_of(share, handle)->changes;
	pthread_mutex_unlock(&share->lock);
	if (may)
		fill(share, place, handle, number, changes, read, arg);
}
