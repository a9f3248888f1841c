/* SPDX-License-Identifier: BSD-2-Clause */
/* pin.c - finding, making and returning pins. */
#include "common/buffer/pin_int.h"

#include <errno.h>
#include <stdlib.h>

struct tp_mr *pin_mr(const struct pin *pin)
{
	return pin->mr;
}

/* The caller holds the lock. Does not find pins that are still being registered. */
static struct pin *find(struct pins *ps, uintptr_t lo, uintptr_t hi,
			unsigned int access)
{
	struct itree_node *n = NULL;
	struct pin *pin;

	while ((n = itree_next(&ps->tree, n, lo, lo + 1))) {
		pin = pin_of(n);
		if (pin->ready && n->hi >= hi && !(access & ~pin->access))
			return pin;
	}
	return NULL;
}

/* The caller holds the lock. NULL: no pin, or the cache may be out of date. */
static struct pin *take(struct pins *ps, uintptr_t lo, uintptr_t hi,
			unsigned int access, struct pin_list *out)
{
	struct pin *pin;

	if (!pins_refresh(ps, out))
		return NULL;
	pin = find(ps, lo, hi, access);
	if (!pin)
		return NULL;
	if (!pin->refs++)
		TAILQ_REMOVE(&ps->idle, pin, link);
	ps->stats.hits++;
	return pin;
}

struct pin *pin_find(struct pins *ps, void *addr, size_t len,
		     unsigned int access)
{
	struct pin_list out = TAILQ_HEAD_INITIALIZER(out);
	uintptr_t lo = (uintptr_t)addr;
	struct pin *pin;

	if (!len || !pins_keep(ps) || !pins_mine(ps))
		return NULL;
	pthread_mutex_lock(&ps->lock);
	pin = take(ps, lo, lo + len, access, &out);
	pthread_mutex_unlock(&ps->lock);
	pins_reap(ps, &out);
	return pin;
}

/* ---- making a pin ---- */

/* The new pin gets the rights of every pin that covers its range. */
static unsigned int all_access(struct pins *ps, const struct pin *pin)
{
	unsigned int access = pin->access;
	struct itree_node *n = NULL;

	while ((n = itree_next(&ps->tree, n, pin->node.lo, pin->node.lo + 1)))
		if (pin_of(n)->ready && n->hi >= pin->node.hi)
			access |= pin_of(n)->access;
	return access;
}

/*
 * Enters the pin in the tree before it is watched and registered, so that every later change
 * invalidates it. False: it cannot be cached.
 */
static bool enter(struct pins *ps, struct pin *pin)
{
	struct pin_list out = TAILQ_HEAD_INITIALIZER(out);
	bool room;

	pthread_mutex_lock(&ps->lock);
	room = pins_refresh(ps, &out) && pins_make_room(ps, pin_len(pin), &out);
	if (room) {
		pin->access = all_access(ps, pin);
		pins_insert(ps, pin);
	}
	pthread_mutex_unlock(&ps->lock);
	pins_reap(ps, &out);
	return room;
}

/*
 * If the memory is read-only, the rights of other pins may not be possible: retry with access
 * alone.
 */
static int reg(struct pins *ps, struct pin *pin, unsigned int access)
{
	void *addr = (void *)pin->node.lo;
	int rc = tp_mr_reg(ps->dev, addr, pin_len(pin), pin->access, &pin->mr);

	if (rc && pin->access != access) {
		pin->access = access;
		rc = tp_mr_reg(ps->dev, addr, pin_len(pin), access, &pin->mr);
	}
	if (rc == -ENOMEM && pins_evict_idle(ps))
		rc = tp_mr_reg(ps->dev, addr, pin_len(pin), access, &pin->mr);
	return rc;
}

static void leave(struct pins *ps, struct pin *pin)
{
	pthread_mutex_lock(&ps->lock);
	if (pin->cached)
		pins_kill(ps, pin, NULL);
	pthread_mutex_unlock(&ps->lock);
}

/* Removes unused pins that the new one can replace. */
static void supersede(struct pins *ps, struct pin *pin, struct pin_list *out)
{
	struct itree_node *n, *next;
	struct pin *old;

	n = itree_next(&ps->tree, NULL, pin->node.lo, pin->node.hi);
	for (; n; n = next) {
		next = itree_next(&ps->tree, n, pin->node.lo, pin->node.hi);
		old = pin_of(n);
		if (old != pin && old->ready && !old->refs &&
		    n->lo >= pin->node.lo && n->hi <= pin->node.hi &&
		    !(old->access & ~pin->access))
			pins_kill(ps, old, out);
	}
}

static void ready(struct pins *ps, struct pin *pin)
{
	struct pin_list out = TAILQ_HEAD_INITIALIZER(out);

	pthread_mutex_lock(&ps->lock);
	if (pin->cached) {
		pin->ready = true;
		supersede(ps, pin, &out);
	}
	pthread_mutex_unlock(&ps->lock);
	pins_reap(ps, &out);
}

static int make(struct pins *ps, struct pin *pin, unsigned int access)
{
	bool kept;
	int rc;

	pin->access = access;
	kept = pins_keep(ps) && enter(ps, pin);
	if (kept && watch_add(ps->watch, pin->node.lo, pin->node.hi)) {
		leave(ps, pin);
		kept = false;
	}
	rc = reg(ps, pin, access);
	if (kept && rc)
		leave(ps, pin);
	else if (kept)
		ready(ps, pin);
	return rc;
}

static int pin_new(struct pins *ps, uintptr_t lo, uintptr_t hi,
		   unsigned int access, struct pin **out)
{
	struct pin *pin = calloc(1, sizeof(*pin));
	int rc;

	if (!pin)
		return -ENOMEM;
	pin->node.lo = lo;
	pin->node.hi = hi;
	pin->refs = 1;
	rc = make(ps, pin, access);
	if (rc) {
		free(pin);
		return rc;
	}
	pins_count_miss(ps, pin);
	*out = pin;
	return 0;
}

int pin_get(struct pins *ps, void *addr, size_t len, unsigned int access,
	    struct pin **out)
{
	uintptr_t lo = (uintptr_t)addr;
	struct pin *pin;

	if (!pins_mine(ps))
		return -ECHILD;
	if (!len || lo + len < lo)
		return -EINVAL;
	pin = pin_find(ps, addr, len, access);
	if (pin) {
		*out = pin;
		return 0;
	}
	return pin_new(ps, lo, lo + len, access, out);
}

/* ---- returning a pin ---- */

static void put(struct pins *ps, struct pin *pin, bool drop)
{
	struct pin_list out = TAILQ_HEAD_INITIALIZER(out);

	pthread_mutex_lock(&ps->lock);
	if (drop && !pin->doubt) {
		pin->doubt = true;
		ps->ndoubt++;
	}
	if (drop && pin->cached)
		pins_kill(ps, pin, NULL);
	if (--pin->refs == 0) {
		if (pin->cached)
			TAILQ_INSERT_TAIL(&ps->idle, pin, link);
		else
			TAILQ_INSERT_TAIL(&out, pin, link);
	}
	pins_take_gone(ps, &out);
	pthread_mutex_unlock(&ps->lock);
	pins_reap(ps, &out);
}

void pin_put(struct pins *ps, struct pin *pin)
{
	put(ps, pin, false);
}

void pin_drop(struct pins *ps, struct pin *pin)
{
	put(ps, pin, true);
}
