/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pin.c - the pin-down cache: the table of cached pins; finding, making and returning pins.
 *
 * While the lock is held, nothing may be allocated, freed or registered: a free() may unmap watched
 * memory, and then waits until the monitor has read the event. So pins to be deregistered are
 * collected in a list, and reaped after the lock is released.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <unistd.h>

#include "common/buffer/itree.h"
#include "common/buffer/pin.h"
#include "common/buffer/watch.h"
#include "common/util/clock.h"

#define MAX_BYTES (1ul << 30)
#define MAX_PINS 1024u

struct pin {
	struct itree_node node; /* must be first; the bytes */
	struct tp_mr *mr;
	unsigned int access;
	/* under the lock */
	unsigned int refs;
	bool cached; /* in the tree, and watched */
	bool ready; /* mr is valid */
	bool dropped; /* counted in ndropped */
	TAILQ_ENTRY(pin) link; /* on the idle list, or on a list to be reaped */
};
TAILQ_HEAD(pin_list, pin);

struct pins {
	struct tp_dev *dev;
	const struct log *log;
	size_t max_bytes;
	unsigned int max_pins;
	pid_t owner;
	bool unable; /* a watch is wanted, but cannot be opened */
	struct watch *watch; /* NULL: nothing is cached */
	pthread_mutex_t lock; /* protects the rest */
	pthread_cond_t settled;
	struct itree tree;
	struct pin_list idle; /* cached, refs 0; least recently used first */
	unsigned int ndropped; /* dropped, not yet deregistered */
	struct pins_stats stats;
};

static struct pin *pin_of(struct itree_node *node)
{
	return (struct pin *)node;
}

static size_t pin_len(const struct pin *pin)
{
	return pin->node.hi - pin->node.lo;
}

/* False in a child after fork(). */
static bool is_owner(const struct pins *ps)
{
	return getpid() == ps->owner;
}

static void count_miss(struct pins *ps, const struct pin *pin)
{
	pthread_mutex_lock(&ps->lock);
	ps->stats.misses++;
	ps->stats.uncached += !pin->cached;
	pthread_mutex_unlock(&ps->lock);
}

/* The caller holds the lock. */
static void tree_insert(struct pins *ps, struct pin *pin)
{
	pin->cached = true;
	itree_insert(&ps->tree, &pin->node);
	ps->stats.pins++;
	ps->stats.bytes += pin_len(pin);
}

/* An unused pin moves to out. out may be NULL for pins in use. The caller holds the lock. */
static void tree_remove(struct pins *ps, struct pin *pin, struct pin_list *out)
{
	pin->cached = false;
	itree_remove(&ps->tree, &pin->node);
	ps->stats.pins--;
	ps->stats.bytes -= pin_len(pin);
	if (pin->refs)
		return;
	TAILQ_REMOVE(&ps->idle, pin, link);
	TAILQ_INSERT_TAIL(out, pin, link);
}

static void remove_gone(struct pins *ps, struct pin_list *out)
{
	struct itree_node *n;
	uintptr_t lo, hi;

	if (!ps->watch)
		return;
	while (watch_gone(ps->watch, &lo, &hi))
		while ((n = itree_next(&ps->tree, NULL, lo, hi))) {
			ps->stats.invalidations++;
			tree_remove(ps, pin_of(n), out);
		}
}

/*
 * Removes pins whose memory was unmapped. False: a change of the mappings is in progress, so more
 * pins may be affected. The caller holds the lock.
 */
static bool remove_gone_if_quiet(struct pins *ps, struct pin_list *out)
{
	bool quiet = watch_quiet(ps->watch);

	remove_gone(ps, out);
	return quiet;
}

static bool has_room(const struct pins *ps, size_t len)
{
	return ps->stats.pins < ps->max_pins && len <= ps->max_bytes &&
	       ps->stats.bytes <= ps->max_bytes - len;
}

/*
 * Evicts until a pin of len bytes has room. False: there is not enough. The caller holds the lock.
 */
static bool make_room(struct pins *ps, size_t len, struct pin_list *out)
{
	struct pin *pin;

	if (len > ps->max_bytes)
		return false;
	while (!has_room(ps, len) && (pin = TAILQ_FIRST(&ps->idle))) {
		ps->stats.evictions++;
		tree_remove(ps, pin, out);
	}
	return has_room(ps, len);
}

static void end_dropped(struct pins *ps)
{
	pthread_mutex_lock(&ps->lock);
	if (--ps->ndropped == 0)
		pthread_cond_broadcast(&ps->settled);
	pthread_mutex_unlock(&ps->lock);
}

/* Deregisters and frees the pins in out, without the lock. */
static void reap_pins(struct pins *ps, struct pin_list *out)
{
	struct pin *pin;

	while ((pin = TAILQ_FIRST(out))) {
		TAILQ_REMOVE(out, pin, link);
		tp_mr_dereg(pin->mr);
		if (pin->dropped)
			end_dropped(ps);
		free(pin);
	}
}

/* Evicts all unused pins, without the lock. Returns whether there were any. */
static bool evict_idle(struct pins *ps)
{
	struct pin_list out = TAILQ_HEAD_INITIALIZER(out);
	struct pin *pin;
	bool any;

	pthread_mutex_lock(&ps->lock);
	if (ps->watch)
		remove_gone(ps, &out);
	while ((pin = TAILQ_FIRST(&ps->idle))) {
		ps->stats.evictions++;
		tree_remove(ps, pin, &out);
	}
	any = !TAILQ_EMPTY(&out);
	pthread_mutex_unlock(&ps->lock);
	reap_pins(ps, &out);
	return any;
}

int pins_mode_parse(const char *text, enum pins_mode *mode)
{
	static const char *const names[] = {
		[PINS_OFF] = "off", [PINS_AUTO] = "auto", [PINS_ON] = "on"
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(text, names[i])) {
			*mode = (enum pins_mode)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* ---- open and close ---- */

static void open_watch(struct pins *ps, enum pins_mode mode)
{
	int rc;

	if (mode == PINS_OFF || (mode == PINS_AUTO && !tp_dev_pins(ps->dev)))
		return;
	rc = watch_open(&ps->watch);
	ps->unable = rc != 0;
	if (rc)
		log_warn(ps->log,
			 "%s: memory is registered for each call, because the "
			 "kernel does not tell when it is unmapped: "
			 "userfaultfd: %s",
			 tp_dev_name(ps->dev), strerror(-rc));
}

int pins_open(const struct pins_attr *attr, struct pins **out)
{
	struct pins *ps = calloc(1, sizeof(*ps));
	pthread_condattr_t mono;

	if (!ps)
		return -ENOMEM;
	ps->dev = attr->dev;
	ps->log = attr->log;
	ps->max_bytes = attr->max_bytes ? attr->max_bytes : MAX_BYTES;
	ps->max_pins = attr->max_pins ? attr->max_pins : MAX_PINS;
	ps->owner = getpid();
	TAILQ_INIT(&ps->idle);
	pthread_mutex_init(&ps->lock, NULL);
	pthread_condattr_init(&mono);
	pthread_condattr_setclock(&mono, CLOCK_MONOTONIC);
	pthread_cond_init(&ps->settled, &mono);
	pthread_condattr_destroy(&mono);
	open_watch(ps, attr->mode);
	*out = ps;
	return 0;
}

bool pins_keep(const struct pins *ps)
{
	return ps->watch != NULL;
}

void pins_close(struct pins *ps)
{
	evict_idle(ps);
	if (ps->watch)
		watch_close(ps->watch);
	pthread_cond_destroy(&ps->settled);
	pthread_mutex_destroy(&ps->lock);
	free(ps);
}

void pins_abandon(struct pins *ps)
{
	if (ps->watch)
		watch_abandon(ps->watch);
}

void pins_stats(struct pins *ps, struct pins_stats *stats)
{
	pthread_mutex_lock(&ps->lock);
	*stats = ps->stats;
	pthread_mutex_unlock(&ps->lock);
	stats->keeps = ps->watch ? 'y' : ps->unable ? '-' : 'n';
}

int pins_settle(struct pins *ps, uint64_t deadline)
{
	struct timespec ts = clock_timespec(deadline);
	int rc = 0;

	pthread_mutex_lock(&ps->lock);
	while (ps->ndropped && !rc)
		rc = -pthread_cond_timedwait(&ps->settled, &ps->lock, &ts);
	rc = ps->ndropped ? rc : 0;
	pthread_mutex_unlock(&ps->lock);
	return rc;
}

struct tp_mr *pin_mr(const struct pin *pin)
{
	return pin->mr;
}

/* The caller holds the lock. Does not find pins that are still being registered. */
static struct pin *find_cached(struct pins *ps, uintptr_t lo, uintptr_t hi,
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
static struct pin *take_cached(struct pins *ps, uintptr_t lo, uintptr_t hi,
			       unsigned int access, struct pin_list *out)
{
	struct pin *pin;

	if (!remove_gone_if_quiet(ps, out))
		return NULL;
	pin = find_cached(ps, lo, hi, access);
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

	if (!len || !pins_keep(ps) || !is_owner(ps))
		return NULL;
	pthread_mutex_lock(&ps->lock);
	pin = take_cached(ps, lo, lo + len, access, &out);
	pthread_mutex_unlock(&ps->lock);
	reap_pins(ps, &out);
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
static bool enter_tree(struct pins *ps, struct pin *pin)
{
	struct pin_list out = TAILQ_HEAD_INITIALIZER(out);
	bool room;

	pthread_mutex_lock(&ps->lock);
	room = remove_gone_if_quiet(ps, &out) &&
	       make_room(ps, pin_len(pin), &out);
	if (room) {
		pin->access = all_access(ps, pin);
		tree_insert(ps, pin);
	}
	pthread_mutex_unlock(&ps->lock);
	reap_pins(ps, &out);
	return room;
}

/*
 * pin->access may include rights that are wanted for other pins of this memory. These may fail if
 * the memory is read-only: retry with `access` alone.
 */
static int reg_memory(struct pins *ps, struct pin *pin, unsigned int access)
{
	void *addr = (void *)pin->node.lo;
	int rc = tp_mr_reg(ps->dev, addr, pin_len(pin), pin->access, &pin->mr);

	if (rc && pin->access != access) {
		pin->access = access;
		rc = tp_mr_reg(ps->dev, addr, pin_len(pin), access, &pin->mr);
	}
	if (rc == -ENOMEM && evict_idle(ps))
		rc = tp_mr_reg(ps->dev, addr, pin_len(pin), access, &pin->mr);
	return rc;
}

static void leave_tree(struct pins *ps, struct pin *pin)
{
	pthread_mutex_lock(&ps->lock);
	if (pin->cached)
		tree_remove(ps, pin, NULL);
	pthread_mutex_unlock(&ps->lock);
}

/* Removes unused pins that the new one can replace. */
static void remove_superseded(struct pins *ps, struct pin *pin,
			      struct pin_list *out)
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
			tree_remove(ps, old, out);
	}
}

static void mark_ready(struct pins *ps, struct pin *pin)
{
	struct pin_list out = TAILQ_HEAD_INITIALIZER(out);

	pthread_mutex_lock(&ps->lock);
	if (pin->cached) {
		pin->ready = true;
		remove_superseded(ps, pin, &out);
	}
	pthread_mutex_unlock(&ps->lock);
	reap_pins(ps, &out);
}

static int register_pin(struct pins *ps, struct pin *pin, unsigned int access)
{
	bool kept;
	int rc;

	pin->access = access;
	kept = pins_keep(ps) && enter_tree(ps, pin);
	if (kept && watch_add(ps->watch, pin->node.lo, pin->node.hi)) {
		leave_tree(ps, pin);
		kept = false;
	}
	rc = reg_memory(ps, pin, access);
	if (kept && rc)
		leave_tree(ps, pin);
	else if (kept)
		mark_ready(ps, pin);
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
	rc = register_pin(ps, pin, access);
	if (rc) {
		free(pin);
		return rc;
	}
	count_miss(ps, pin);
	*out = pin;
	return 0;
}

int pin_get(struct pins *ps, void *addr, size_t len, unsigned int access,
	    struct pin **out)
{
	uintptr_t lo = (uintptr_t)addr;
	struct pin *pin;

	if (!is_owner(ps))
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

static void return_pin(struct pins *ps, struct pin *pin, bool drop)
{
	struct pin_list out = TAILQ_HEAD_INITIALIZER(out);

	pthread_mutex_lock(&ps->lock);
	if (drop && !pin->dropped) {
		pin->dropped = true;
		ps->ndropped++;
	}
	if (drop && pin->cached)
		tree_remove(ps, pin, NULL);
	if (--pin->refs == 0) {
		if (pin->cached)
			TAILQ_INSERT_TAIL(&ps->idle, pin, link);
		else
			TAILQ_INSERT_TAIL(&out, pin, link);
	}
	remove_gone(ps, &out);
	pthread_mutex_unlock(&ps->lock);
	reap_pins(ps, &out);
}

void pin_put(struct pins *ps, struct pin *pin)
{
	return_pin(ps, pin, false);
}

void pin_drop(struct pins *ps, struct pin *pin)
{
	return_pin(ps, pin, true);
}
