/* SPDX-License-Identifier: BSD-2-Clause */
/* shown.c - the table of sizes that clients read, and the state of each place. */
#include "server/store/shown.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/random_id.h"

#define PAGE 4096u

_Static_assert(sizeof(struct wire_end) <= SHOWN_BYTES, "a place");

struct place {
	pthread_mutex_t lock;
	uint64_t handle; /* 0: no object */
	uint64_t told; /* when a client asked last, attr.clock() */
	/* changes in progress of all objects that belong to this place */
	unsigned int busy;
	/* it shows the size; otherwise clients have to send a request */
	bool open;
};

struct shown {
	struct shown_attr attr;
	uint8_t *memory;
	size_t len;
	_Atomic uint64_t tag; /* the tag given last */
	atomic_uint count;
	struct place place[];
};

static void free_places(struct shown *shown)
{
	unsigned int i;

	for (i = 0; i < shown->attr.places; i++)
		pthread_mutex_destroy(&shown->place[i].lock);
	free(shown->memory);
	free(shown);
}

int shown_open(const struct shown_attr *attr, struct shown **out)
{
	size_t len = (size_t)attr->places * SHOWN_BYTES;
	struct shown *shown;
	uint64_t first;
	unsigned int i;
	int rc = random_id(&first);

	if (rc)
		return rc;
	shown = calloc(1, sizeof(*shown) + attr->places * sizeof(struct place));
	if (!shown)
		return -ENOMEM;
	shown->attr = *attr;
	shown->len = (len + PAGE - 1) / PAGE * PAGE;
	shown->memory = aligned_alloc(PAGE, shown->len);
	atomic_init(&shown->tag, first);
	for (i = 0; i < attr->places; i++)
		pthread_mutex_init(&shown->place[i].lock, NULL);
	if (!shown->memory) {
		free_places(shown);
		return -ENOMEM;
	}
	memset(shown->memory, 0, shown->len);
	*out = shown;
	return 0;
}

void shown_close(struct shown *shown)
{
	if (shown)
		free_places(shown);
}

void *shown_memory(const struct shown *shown, size_t *len)
{
	*len = shown->len;
	return shown->memory;
}

unsigned int shown_count(const struct shown *shown)
{
	return shown ? atomic_load(&shown->count) : 0;
}

static unsigned int index_of(const struct shown *shown, uint64_t handle)
{
	uint64_t mix = handle * 0x9e3779b97f4a7c15ull;

	return (unsigned int)((mix >> 32) % shown->attr.places);
}

static struct wire_end *words_of(const struct shown *shown,
				 const struct place *place)
{
	size_t at = (size_t)(place - shown->place) * SHOWN_BYTES;

	return (struct wire_end *)(void *)(shown->memory + at);
}

/* ---- contents of a place: the functions below need its lock ---- */

/* Stores word by word, because clients read concurrently.  The check value does not match what
 * such a read gets. */
static void put(struct wire_end *words, struct wire_end now)
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

static void shut(struct shown *shown, struct place *place)
{
	struct wire_end *words = words_of(shown, place);

	put(words, (struct wire_end){ .tag = words->tag,
				      .size = htole64(WIRE_END_ASK) });
	place->open = false;
}

static void show(struct shown *shown, struct place *place)
{
	struct wire_end *words = words_of(shown, place);
	struct shown_size now;

	if (shown->attr.look(shown->attr.arg, place->handle, &now))
		return; /* clients continue to send requests */
	put(words, (struct wire_end){ .tag = words->tag,
				      .size = htole64(now.size),
				      .blocks = htole64(now.blocks),
				      .mtime = htole64(now.mtime) });
	place->open = true;
}

static void forget(struct shown *shown, struct place *place)
{
	put(words_of(shown, place), (struct wire_end){ 0 });
	place->handle = 0;
	place->open = false;
	atomic_fetch_sub(&shown->count, 1);
}

static void settle(struct shown *shown, struct place *place, uint64_t handle)
{
	uint64_t tag = atomic_fetch_add(&shown->tag, 1) + 1;

	if (!place->handle)
		atomic_fetch_add(&shown->count, 1);
	place->handle = handle;
	put(words_of(shown, place),
	    (struct wire_end){ .tag = htole64(tag ? tag : 1),
			       .size = htole64(WIRE_END_ASK) });
	place->open = false;
}

static bool since(const struct shown *shown, const struct place *place,
		  unsigned int ms)
{
	return shown->attr.clock() - place->told >= ms * CLOCK_NS_PER_MS;
}

/* ---- changes ---- */

void shown_enter(struct shown *shown, uint64_t handle)
{
	struct place *place;

	if (!shown)
		return;
	place = &shown->place[index_of(shown, handle)];
	pthread_mutex_lock(&place->lock);
	place->busy++;
	if (place->handle == handle && place->open)
		shut(shown, place);
	pthread_mutex_unlock(&place->lock);
}

void shown_leave(struct shown *shown, uint64_t handle)
{
	struct place *place;

	if (!shown)
		return;
	place = &shown->place[index_of(shown, handle)];
	pthread_mutex_lock(&place->lock);
	if (!--place->busy && place->handle && !place->open) {
		if (since(shown, place, SHOWN_IDLE_MS))
			forget(shown, place);
		else
			show(shown, place);
	}
	pthread_mutex_unlock(&place->lock);
}

bool shown_place(struct shown *shown, uint64_t handle, size_t *at,
		 uint64_t *tag)
{
	struct place *place;
	unsigned int i;
	bool ours;

	if (!shown)
		return false;
	i = index_of(shown, handle);
	place = &shown->place[i];
	pthread_mutex_lock(&place->lock);
	if (place->handle != handle &&
	    (!place->handle || since(shown, place, SHOWN_HOLD_MS)))
		settle(shown, place, handle);
	ours = place->handle == handle;
	if (ours) {
		place->told = shown->attr.clock();
		if (!place->open && !place->busy)
			show(shown, place);
		*at = (size_t)i * SHOWN_BYTES;
		*tag = le64toh(words_of(shown, place)->tag);
	}
	pthread_mutex_unlock(&place->lock);
	return ours;
}
