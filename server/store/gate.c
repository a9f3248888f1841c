/* SPDX-License-Identifier: BSD-2-Clause */
/* gate.c - stripes of changes under way. */
#include "gate.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOBODY UINT64_MAX

LIST_HEAD(entries, gate_entry);
TAILQ_HEAD(waits, gate_wait);

struct gate_stripe {
	_Alignas(64) _Atomic uint64_t *first; /* expiry; read unlocked */
	pthread_mutex_t lock; /* of the rest */
	struct entries entered;
	struct waits waits;
};

struct gate {
	struct gate_stripe stripe[GATE_STRIPES];
	uint64_t (*clock)(void);
	struct lent_gate *page;
	int fd;
};

unsigned int gate_place(uint64_t handle)
{
	uint64_t mix = handle * 0x9e3779b97f4a7c15ull;

	return (mix >> 32) % GATE_STRIPES;
}

static struct gate_stripe *stripe_of(const struct gate *gate, uint64_t handle)
{
	return (struct gate_stripe *)(uintptr_t)&gate
		->stripe[gate_place(handle)];
}

/* Nobody else can write to it, nor change its length. */
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

static void add(struct gate_stripe *s, struct gate_entry *entry)
{
	pthread_mutex_lock(&s->lock);
	LIST_INSERT_HEAD(&s->entered, entry, link);
	if (entry->expiry < atomic_load(s->first))
		atomic_store(s->first, entry->expiry);
	pthread_mutex_unlock(&s->lock);
}

void gate_enter_late(struct gate *gate, uint64_t handle, uint64_t expiry,
		     struct gate_entry *entry)
{
	entry->expiry = expiry;
	entry->stripe = stripe_of(gate, handle);
	add(entry->stripe, entry);
}

int gate_enter(struct gate *gate, uint64_t handle, uint64_t expiry,
	       struct gate_entry *entry)
{
	gate_enter_late(gate, handle, expiry, entry);
	/* who does not see it inside came before it looks at the clock */
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

/* Those who may go on now; first: of what is still inside. */
static void take_waits(const struct gate *gate, struct gate_stripe *s,
		       uint64_t first, struct waits *go)
{
	struct gate_wait *wait;

	if (TAILQ_EMPTY(&s->waits) ||
	    (first != NOBODY && first <= gate->clock()))
		return;
	TAILQ_FOREACH(wait, &s->waits, link)
		wait->waits = false;
	TAILQ_CONCAT(go, &s->waits, link);
}

void gate_leave(struct gate *gate, struct gate_entry *entry)
{
	struct waits go = TAILQ_HEAD_INITIALIZER(go);
	struct gate_stripe *s = entry->stripe;
	struct gate_wait *wait;
	uint64_t first;

	pthread_mutex_lock(&s->lock);
	LIST_REMOVE(entry, link);
	first = first_of(s);
	atomic_store_explicit(s->first, first, memory_order_release);
	take_waits(gate, s, first, &go);
	pthread_mutex_unlock(&s->lock);
	while ((wait = TAILQ_FIRST(&go))) {
		TAILQ_REMOVE(&go, wait, link);
		wait->go(wait);
	}
}

/* ---- those who come ---- */

static bool is_shut(const struct gate *gate, const struct gate_stripe *s)
{
	uint64_t first = atomic_load_explicit(s->first, memory_order_acquire);

	return first != NOBODY && first <= gate->clock();
}

bool gate_is_shut(const struct gate *gate, uint64_t handle)
{
	return is_shut(gate, stripe_of(gate, handle));
}

bool gate_wait(struct gate *gate, uint64_t handle, struct gate_wait *wait)
{
	struct gate_stripe *s = stripe_of(gate, handle);
	bool shut;

	pthread_mutex_lock(&s->lock);
	shut = is_shut(gate, s);
	wait->waits = shut;
	if (shut)
		TAILQ_INSERT_TAIL(&s->waits, wait, link);
	pthread_mutex_unlock(&s->lock);
	return shut;
}

bool gate_cancel(struct gate *gate, uint64_t handle, struct gate_wait *wait)
{
	struct gate_stripe *s = stripe_of(gate, handle);
	bool waits;

	pthread_mutex_lock(&s->lock);
	waits = wait->waits;
	if (waits)
		TAILQ_REMOVE(&s->waits, wait, link);
	wait->waits = false;
	pthread_mutex_unlock(&s->lock);
	return waits;
}
