/* SPDX-License-Identifier: BSD-2-Clause */
/* pins.c - the table of cached pins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/buffer/pin_int.h"

#define MAX_BYTES (1ul << 30)
#define MAX_PINS 1024u

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
	pins_evict_idle(ps);
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

bool pins_mine(const struct pins *ps)
{
	return getpid() == ps->owner;
}

void pins_stats(struct pins *ps, struct pins_stats *stats)
{
	pthread_mutex_lock(&ps->lock);
	*stats = ps->stats;
	pthread_mutex_unlock(&ps->lock);
	stats->keeps = ps->watch ? 'y' : ps->unable ? '-' : 'n';
}

void pins_count_miss(struct pins *ps, const struct pin *pin)
{
	pthread_mutex_lock(&ps->lock);
	ps->stats.misses++;
	ps->stats.uncached += !pin->cached;
	pthread_mutex_unlock(&ps->lock);
}

/* ---- insertion into the tree and removal ---- */

void pins_insert(struct pins *ps, struct pin *pin)
{
	pin->cached = true;
	itree_insert(&ps->tree, &pin->node);
	ps->stats.pins++;
	ps->stats.bytes += pin_len(pin);
}

void pins_kill(struct pins *ps, struct pin *pin, struct pin_list *out)
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

void pins_take_gone(struct pins *ps, struct pin_list *out)
{
	struct itree_node *n;
	uintptr_t lo, hi;

	if (!ps->watch)
		return;
	while (watch_gone(ps->watch, &lo, &hi))
		while ((n = itree_next(&ps->tree, NULL, lo, hi))) {
			ps->stats.invalidations++;
			pins_kill(ps, pin_of(n), out);
		}
}

bool pins_refresh(struct pins *ps, struct pin_list *out)
{
	bool quiet = watch_quiet(ps->watch);

	pins_take_gone(ps, out);
	return quiet;
}

/* ---- room ---- */

static bool has_room(const struct pins *ps, size_t len)
{
	return ps->stats.pins < ps->max_pins && len <= ps->max_bytes &&
	       ps->stats.bytes <= ps->max_bytes - len;
}

bool pins_make_room(struct pins *ps, size_t len, struct pin_list *out)
{
	struct pin *pin;

	if (len > ps->max_bytes)
		return false;
	while (!has_room(ps, len) && (pin = TAILQ_FIRST(&ps->idle))) {
		ps->stats.evictions++;
		pins_kill(ps, pin, out);
	}
	return has_room(ps, len);
}

bool pins_evict_idle(struct pins *ps)
{
	struct pin_list out = TAILQ_HEAD_INITIALIZER(out);
	struct pin *pin;
	bool any;

	pthread_mutex_lock(&ps->lock);
	if (ps->watch)
		pins_take_gone(ps, &out);
	while ((pin = TAILQ_FIRST(&ps->idle))) {
		ps->stats.evictions++;
		pins_kill(ps, pin, &out);
	}
	any = !TAILQ_EMPTY(&out);
	pthread_mutex_unlock(&ps->lock);
	pins_reap(ps, &out);
	return any;
}

/* ---- deregistration ---- */

static void undoubt(struct pins *ps)
{
	pthread_mutex_lock(&ps->lock);
	if (--ps->ndoubt == 0)
		pthread_cond_broadcast(&ps->settled);
	pthread_mutex_unlock(&ps->lock);
}

void pins_reap(struct pins *ps, struct pin_list *out)
{
	struct pin *pin;

	while ((pin = TAILQ_FIRST(out))) {
		TAILQ_REMOVE(out, pin, link);
		tp_mr_dereg(pin->mr);
		if (pin->doubt)
			undoubt(ps);
		free(pin);
	}
}

int pins_settle(struct pins *ps, uint64_t deadline)
{
	struct timespec ts = clock_timespec(deadline);
	int rc = 0;

	pthread_mutex_lock(&ps->lock);
	while (ps->ndoubt && !rc)
		rc = -pthread_cond_timedwait(&ps->settled, &ps->lock, &ts);
	rc = ps->ndoubt ? rc : 0;
	pthread_mutex_unlock(&ps->lock);
	return rc;
}
