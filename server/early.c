/* SPDX-License-Identifier: BSD-2-Clause */
/* early.c - a list of places, in the order in which they were changed. */
#include "early.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "clock.h"

#define FIRST 4096u

struct place {
	uint64_t handle;
	uint64_t begin, end;
};

struct early {
	atomic_bool on;
	uint64_t until;
	pthread_mutex_t lock; /* of the rest */
	struct place *place;
	size_t n, room;
};

int early_open(struct early **out)
{
	struct early *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	atomic_init(&e->on, true);
	e->until = clock_after_ms(EARLY_MS);
	pthread_mutex_init(&e->lock, NULL);
	*out = e;
	return 0;
}

void early_close(struct early *e)
{
	if (!e)
		return;
	pthread_mutex_destroy(&e->lock);
	free(e->place);
	free(e);
}

/* From now on nothing is known.  With the lock, as all below. */
static void stop(struct early *e)
{
	atomic_store(&e->on, false);
	free(e->place);
	e->place = NULL;
	e->n = e->room = 0;
}

static bool meets(const struct place *p, uint64_t handle,
		  const struct store_seg *seg, unsigned int n)
{
	unsigned int i;

	if (p->handle != handle)
		return false;
	for (i = 0; i < n; i++)
		if (seg[i].off < p->end && p->begin < seg[i].off + seg[i].len)
			return true;
	return false;
}

static bool was_changed(const struct early *e, uint64_t handle,
			const struct store_seg *seg, unsigned int n)
{
	size_t i;

	for (i = 0; i < e->n; i++)
		if (meets(&e->place[i], handle, seg, n))
			return true;
	return false;
}

static bool grow(struct early *e)
{
	size_t room = e->room ? 2 * e->room : FIRST;
	struct place *more;

	if (room > EARLY_MAX)
		return false;
	more = realloc(e->place, room * sizeof(*more));
	if (!more)
		return false;
	e->place = more;
	e->room = room;
	return true;
}

/* Behind the last one it is the same place. */
static bool add(struct early *e, uint64_t handle, const struct store_seg *seg)
{
	struct place *last = e->n ? &e->place[e->n - 1] : NULL;

	if (last && last->handle == handle && last->end == seg->off) {
		last->end += seg->len;
		return true;
	}
	if (e->n == e->room && !grow(e))
		return false;
	e->place[e->n++] = (struct place){ handle, seg->off,
					   seg->off + seg->len };
	return true;
}

static int change(struct early *e, uint64_t handle, const struct store_seg *seg,
		  unsigned int n, bool anew)
{
	unsigned int i;

	if (atomic_load(&e->on) && clock_now() >= e->until)
		stop(e);
	if (!atomic_load(&e->on))
		return anew ? -EIO : 0;
	if (anew && was_changed(e, handle, seg, n))
		return -EIO;
	for (i = 0; i < n; i++)
		if (!add(e, handle, &seg[i])) {
			stop(e);
			break;
		}
	return 0;
}

int early_change(struct early *e, uint64_t handle, const struct store_seg *seg,
		 unsigned int n, bool anew)
{
	int rc;

	if (!anew && !atomic_load_explicit(&e->on, memory_order_relaxed))
		return 0;
	pthread_mutex_lock(&e->lock);
	rc = change(e, handle, seg, n, anew);
	pthread_mutex_unlock(&e->lock);
	return rc;
}
