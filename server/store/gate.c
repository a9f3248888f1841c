/* SPDX-License-Identifier: BSD-2-Clause */
/* gate.c - stripes of changes in progress. */
#include "server/store/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY UINT64_MAX

LIST_HEAD(entries, gate_entry);
TAILQ_HEAD(waits, gate_wait);
LIST_HEAD(swaps, gate_swap);

struct gate_stripe {
	/* earliest expiry of the entered changes, in the page; read without the lock */
	_Alignas(64) _Atomic uint64_t *first;
	pthread_mutex_t lock; /* of the rest */
	struct entries entered;
	struct waits waits;
	struct swaps swaps;
};

struct gate {
	struct gate_stripe stripe[GATE_STRIPES];
	uint64_t (*clock)(void);
	struct loan_page_gate *page;
	int fd;
};

unsigned int gate_place(uint64_t handle)
{
	uint64_t mix = handle * 0x9e3779b97f4a7c15ull;

	return (mix >> 32) % GATE_STRIPES;
}

static struct gate_stripe *stripe_of(const struct gate *gate,
				     struct object_key key)
{
	return (struct gate_stripe *)(uintptr_t)&gate
		->stripe[gate_place(key.handle)];
}

uint64_t gate_clock(void)
{
	struct stat sb;

	return stat("/proc/self/ns/time", &sb) ? 0 : sb.st_ino;
}

/*
 * Creates the page that clients map.  It is sealed: no other process can write to it or change its
 * length.
 */
static int page_open(struct gate *gate)
{
	const size_t len = sizeof(*gate->page);

	gate->fd = memfd_create("pvfs-gate", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (gate->fd < 0)
		return -errno;
	if (ftruncate(gate->fd, (off_t)len))
		return -errno;
	gate->page = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED,
			  gate->fd, 0);
	if (gate->page == MAP_FAILED)
		return -errno;
	gate->page->clock = gate_clock();
	return fcntl(gate->fd, F_ADD_SEALS,
		     F_SEAL_FUTURE_WRITE | F_SEAL_SHRINK | F_SEAL_GROW |
			     F_SEAL_SEAL)
		       ? -errno
		       : 0;
}

static void page_close(struct gate *gate)
{
	if (gate->page != MAP_FAILED)
		munmap(gate->page, sizeof(*gate->page));
	if (gate->fd >= 0)
		close(gate->fd);
}

static void stripe_init(struct gate *gate, unsigned int i)
{
	struct gate_stripe *s = &gate->stripe[i];

	s->first = &gate->page->stripe[i].first;
	atomic_store(s->first, NOBODY);
	pthread_mutex_init(&s->lock, NULL);
	LIST_INIT(&s->entered);
	TAILQ_INIT(&s->waits);
	LIST_INIT(&s->swaps);
}

int gate_open(uint64_t (*clock)(void), struct gate **out)
{
	struct gate *gate = aligned_alloc(64, sizeof(*gate));
	unsigned int i;
	int rc;

	if (!gate)
		return -ENOMEM;
	gate->clock = clock;
	gate->page = MAP_FAILED;
	rc = page_open(gate);
	if (rc) {
		page_close(gate);
		free(gate);
		return rc;
	}
	for (i = 0; i < GATE_STRIPES; i++)
		stripe_init(gate, i);
	*out = gate;
	return 0;
}

void gate_close(struct gate *gate)
{
	unsigned int i;

	if (!gate)
		return;
	for (i = 0; i < GATE_STRIPES; i++)
		pthread_mutex_destroy(&gate->stripe[i].lock);
	page_close(gate);
	free(gate);
}

int gate_page(const struct gate *gate)
{
	return gate->fd;
}

_Atomic uint32_t *gate_owner(const struct gate *gate)
{
	return &gate->page->owner;
}

void gate_until(struct gate *gate, uint64_t until)
{
	atomic_store(&gate->page->until, until);
}

uint64_t gate_ends(const struct gate *gate)
{
	return atomic_load(&gate->page->until);
}

/* ---- changes ---- */

static void note_change(struct gate_stripe *s, struct object_key key)
{
	struct gate_swap *swap;

	LIST_FOREACH(swap, &s->swaps, link)
		if (object_key_equal(swap->key, key))
			swap->changed = true;
}

static void add_entry(struct gate *gate, struct object_key key, uint64_t expiry,
		      bool others, struct gate_entry *entry)
{
	struct gate_stripe *s = stripe_of(gate, key);

	*entry = (struct gate_entry){
		.expiry = expiry, .key = key, .by_others = others, .stripe = s
	};
	pthread_mutex_lock(&s->lock);
	LIST_INSERT_HEAD(&s->entered, entry, link);
	if (!others)
		note_change(s, key);
	if (entry->expiry < atomic_load(s->first))
		atomic_store(s->first, entry->expiry);
	pthread_mutex_unlock(&s->lock);
}

void gate_enter_late(struct gate *gate, struct object_key key, uint64_t expiry,
		     struct gate_entry *entry)
{
	add_entry(gate, key, expiry, true, entry);
}

int gate_enter(struct gate *gate, struct object_key key, uint64_t expiry,
	       struct gate_entry *entry)
{
	add_entry(gate, key, expiry, false, entry);
	/* a request that does not see this change came before the clock is read */
	atomic_thread_fence(memory_order_seq_cst);
	if (gate->clock() < expiry)
		return 0;
	gate_leave(gate, entry);
	return -ETIMEDOUT;
}

static uint64_t first_of(const struct gate_stripe *s)
{
	const struct gate_entry *entry;
	uint64_t first = NOBODY;

	LIST_FOREACH(entry, &s->entered, link)
		if (entry->expiry < first)
			first = entry->expiry;
	return first;
}

static bool is_late(const struct gate *gate, const struct gate_stripe *s,
		    struct object_key key)
{
	const struct gate_entry *entry;
	uint64_t now = gate->clock();

	LIST_FOREACH(entry, &s->entered, link)
		if (object_key_equal(entry->key, key) && entry->expiry <= now &&
		    entry->expiry != NOBODY)
			return true;
	return false;
}

/* Moves to go the waiters that may continue, now that a change of this object has left. */
static void take_waits(const struct gate *gate, struct gate_stripe *s,
		       struct object_key key, struct waits *go)
{
	struct gate_wait *wait, *next;

	if (TAILQ_EMPTY(&s->waits) || is_late(gate, s, key))
		return;
	for (wait = TAILQ_FIRST(&s->waits); wait; wait = next) {
		next = TAILQ_NEXT(wait, link);
		if (!object_key_equal(wait->key, key))
			continue;
		wait->waits = false;
		TAILQ_REMOVE(&s->waits, wait, link);
		TAILQ_INSERT_TAIL(go, wait, link);
	}
}

void gate_leave(struct gate *gate, struct gate_entry *entry)
{
	struct waits go = TAILQ_HEAD_INITIALIZER(go);
	struct gate_stripe *s = entry->stripe;
	struct gate_wait *wait;

	pthread_mutex_lock(&s->lock);
	LIST_REMOVE(entry, link);
	atomic_store_explicit(s->first, first_of(s), memory_order_release);
	take_waits(gate, s, entry->key, &go);
	pthread_mutex_unlock(&s->lock);
	while ((wait = TAILQ_FIRST(&go))) {
		TAILQ_REMOVE(&go, wait, link);
		wait->go(wait);
	}
}

/* ---- replacing the file ---- */

bool gate_swap_begin(struct gate *gate, struct object_key key,
		     struct gate_swap *swap)
{
	struct gate_stripe *s = stripe_of(gate, key);
	const struct gate_entry *entry;
	bool alone = true;

	*swap = (struct gate_swap){ .key = key };
	pthread_mutex_lock(&s->lock);
	LIST_FOREACH(entry, &s->entered, link)
		alone &= !object_key_equal(entry->key, key) || entry->by_others;
	if (alone)
		LIST_INSERT_HEAD(&s->swaps, swap, link);
	pthread_mutex_unlock(&s->lock);
	return alone;
}

int gate_swap_end(struct gate *gate, struct gate_swap *swap,
		  int (*make)(void *arg), void *arg)
{
	struct gate_stripe *s = stripe_of(gate, swap->key);
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	LIST_REMOVE(swap, link);
	if (make)
		rc = swap->changed ? -EAGAIN : make(arg);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* ---- waiting for late changes ---- */

static bool is_shut(const struct gate *gate, const struct gate_stripe *s)
{
	uint64_t first = atomic_load_explicit(s->first, memory_order_acquire);

	return first != NOBODY && first <= gate->clock();
}

/*
 * Reads the state of the stripe first, without the lock.  Only if something in the stripe is late
 * does it need the lock.
 */
bool gate_is_shut(const struct gate *gate, struct object_key key)
{
	struct gate_stripe *s = stripe_of(gate, key);
	bool shut;

	if (!is_shut(gate, s))
		return false;
	pthread_mutex_lock(&s->lock);
	shut = is_late(gate, s, key);
	pthread_mutex_unlock(&s->lock);
	return shut;
}

bool gate_wait(struct gate *gate, struct object_key key, struct gate_wait *wait)
{
	struct gate_stripe *s = stripe_of(gate, key);
	bool shut;

	pthread_mutex_lock(&s->lock);
	shut = is_late(gate, s, key);
	wait->key = key;
	wait->waits = shut;
	if (shut)
		TAILQ_INSERT_TAIL(&s->waits, wait, link);
	pthread_mutex_unlock(&s->lock);
	return shut;
}

bool gate_cancel(struct gate *gate, struct object_key key,
		 struct gate_wait *wait)
{
	struct gate_stripe *s = stripe_of(gate, key);
	bool waits;

	pthread_mutex_lock(&s->lock);
	waits = wait->waits;
	if (waits)
		TAILQ_REMOVE(&s->waits, wait, link);
	wait->waits = false;
	pthread_mutex_unlock(&s->lock);
	return waits;
}
