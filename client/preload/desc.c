/* SPDX-License-Identifier: BSD-2-Clause */
/* desc.c - see desc.h. */
#include "client/preload/desc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include "client/preload/self.h"
#include "client/lib/file/unsynced.h"

#define KEPT_FLAGS (O_ACCMODE | O_APPEND | O_SYNC | O_DSYNC)

enum state { COLD, OPENING, OPEN, NEVER };

struct desc {
	pthread_mutex_t lock; /* protects all; not held while waiting */
	enum state state;
	struct ident id;
	int flags; /* KEPT_FLAGS */
	struct door *door;
	unsigned int calls;
	uint64_t bytes;
	struct file *f; /* valid in state OPEN */
	int owes; /* error of earlier writes that fsync must report, or 0 */
};

/* ---- the table ---- */

static struct desc *desc_there(struct self *s, int fd)
{
	return atomic_load(&s->desc[fd]);
}

static struct desc *desc_add(struct self *s, int fd)
{
	struct desc *d = calloc(1, sizeof(*d)), *none = NULL;
	unsigned int most = atomic_load(&s->most);

	if (!d)
		return NULL;
	pthread_mutex_init(&d->lock, NULL);
	if (!atomic_compare_exchange_strong(&s->desc[fd], &none, d)) {
		free(d);
		return none;
	}
	while (most <= (unsigned int)fd &&
	       !atomic_compare_exchange_weak(&s->most, &most,
					     (unsigned int)fd + 1))
		;
	return d;
}

static void put(struct file *f)
{
	if (!f)
		return;
	deadline_begin();
	file_put(f);
}

/* Called with the lock.  Returns the open file, which the caller passes to put(). */
static struct file *take(struct desc *d)
{
	struct file *f = d->f;

	d->f = NULL;
	d->state = COLD;
	d->calls = 0;
	d->bytes = 0;
	d->owes = 0;
	return f;
}

static void forget(struct self *s, int fd)
{
	struct desc *d = desc_there(s, fd);
	struct file *f;

	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	f = take(d);
	d->id = (struct ident){ 0 };
	pthread_mutex_unlock(&d->lock);
	put(f);
}

/* ---- the present file of a number ---- */

struct now {
	struct ident id;
	int flags; /* from F_GETFL */
};

static bool look(int fd, struct now *now)
{
	if (!ident_get(fd, &now->id))
		return false;
	now->flags = fcntl(fd, F_GETFL);
	return now->flags >= 0 && !(now->flags & O_PATH);
}

/* Called with the lock. */
static bool is(const struct desc *d, const struct now *now)
{
	return ident_same(&d->id, &now->id) &&
	       d->flags == (now->flags & KEPT_FLAGS);
}

static bool may(int flags, bool write)
{
	int mode = flags & O_ACCMODE;

	return mode == O_RDWR || mode == (write ? O_WRONLY : O_RDONLY);
}

/*
 * NULL: the file is on no mount.  If the descriptor is known, no lookup of its door is
 * needed.
 */
static struct desc *settle(struct self *s, int fd, const struct now *now)
{
	struct desc *d = desc_there(s, fd);
	struct door *door;
	struct file *f;

	if (!d)
		d = desc_add(s, fd);
	if (!d)
		return NULL;
	pthread_mutex_lock(&d->lock);
	if (is(d, now)) {
		door = d->door;
		pthread_mutex_unlock(&d->lock);
		return door ? d : NULL;
	}
	pthread_mutex_unlock(&d->lock);
	door = door_find(&s->doors, fd, &now->id);
	pthread_mutex_lock(&d->lock);
	f = take(d);
	d->id = now->id;
	d->flags = now->flags & KEPT_FLAGS;
	d->door = door;
	pthread_mutex_unlock(&d->lock);
	put(f);
	return door ? d : NULL;
}

/* ---- is bypassing worthwhile?  ---- */

/* Called with the lock. */
static bool pays(struct self *s, struct desc *d, uint64_t n)
{
	unsigned int calls = atomic_fetch_add(&s->calls, 1);
	uint64_t bytes = atomic_fetch_add(&s->bytes, n) + n;

	d->calls++;
	d->bytes += n;
	return (d->calls > s->calls_each || d->bytes > s->bytes_each) &&
	       (calls >= s->calls_all || bytes > s->bytes_all);
}

/* ---- open ---- */

/*
 * Temporary failures are retried by later calls.  Without permission, or for other files,
 * the state is NEVER.
 */
static enum state after(int rc)
{
	return rc == -EBUSY || rc == -EAGAIN ? COLD : NEVER;
}

static int open_it(struct self *s, struct desc *d, int fd,
		   const struct now *now)
{
	struct file *f = NULL;
	int rc = door_open(&s->doors, d->door, fd, now->flags, &f);

	if (!rc && f->handle != now->id.ino)
		rc = -ESTALE; /* the number refers to another file by now */
	pthread_mutex_lock(&d->lock);
	if (d->state == OPENING && is(d, now)) {
		d->state = rc ? after(rc) : OPEN;
		d->calls = 0;
		d->bytes = 0;
		if (!rc) {
			d->f = f;
			f = NULL;
		}
	}
	pthread_mutex_unlock(&d->lock);
	put(f);
	helper_wake(s);
	return rc;
}

/*
 * Called with the lock, which is released while it waits.  -ETIMEDOUT: the time of the
 * call has passed.
 */
static int open_if_it_pays(struct self *s, struct desc *d, int fd,
			   const struct now *now, uint64_t n)
{
	int rc;

	if (d->state != COLD || !pays(s, d, n))
		return 0;
	if (door_marked(d->door, now->id.ino))
		return 0;
	if (!s->at_once && !door_connected(d->door)) {
		door_want(d->door);
		helper_wake(s);
		return 0;
	}
	d->state = OPENING;
	pthread_mutex_unlock(&d->lock);
	rc = open_it(s, d, fd, now);
	pthread_mutex_lock(&d->lock);
	return rc;
}

/* ---- calls ---- */

/* Fills *u if the descriptor is on a mount and permits the access. */
static bool use(struct self *s, struct desc *d, const struct now *now,
		uint64_t n, struct use *u)
{
	bool ok = false, late;

	*u = (struct use){ u->fd, now->flags, d->door, NULL, d };
	pthread_mutex_lock(&d->lock);
	late = n && open_if_it_pays(s, d, u->fd, now, n) == -ETIMEDOUT;
	if (d->state == OPEN && is(d, now))
		ok = !n || !door_marked(d->door, now->id.ino);
	if (ok)
		u->f = file_get(d->f);
	pthread_mutex_unlock(&d->lock);
	if (ok && n)
		atomic_fetch_add_explicit(&s->past, 1, memory_order_relaxed);
	return ok || late;
}

static bool begin(struct self *s, int fd, bool write, uint64_t n, struct use *u)
{
	struct now now;
	struct desc *d;

	if (!look(fd, &now)) {
		forget(s, fd);
		number_set(fd, false);
		return false;
	}
	d = settle(s, fd, &now);
	number_set(fd, d != NULL);
	if (!d || !may(now.flags, write))
		return false;
	u->fd = fd;
	return use(s, d, &now, n, u);
}

bool desc_begin(int fd, bool write, uint64_t n, struct use *u)
{
	struct self *s = self_get();

	return s && begin(s, fd, write, n, u);
}

/* Finds a descriptor of the same file that may have written to it. */
static bool use_other(struct self *s, const struct now *now, struct use *u)
{
	unsigned int fd, most = atomic_load(&s->most);
	struct desc *d;

	for (fd = 0; fd < most && !u->f; fd++) {
		d = desc_there(s, (int)fd);
		if (!d)
			continue;
		pthread_mutex_lock(&d->lock);
		if (d->state == OPEN && ident_same(&d->id, &now->id) &&
		    may(d->flags, true))
			*u = (struct use){ u->fd, now->flags, d->door,
					   file_get(d->f), d };
		pthread_mutex_unlock(&d->lock);
	}
	return u->f;
}

bool desc_look(int fd, struct use *u)
{
	struct self *s = self_there();
	struct desc *own;
	struct now now;

	*u = (struct use){ .fd = fd };
	if (s && number_is_ours(fd) && begin(s, fd, true, 0, u))
		return true;
	own = u->desc;
	*u = (struct use){ .fd = fd };
	if (s && look(fd, &now) && use_other(s, &now, u))
		return true;
	u->desc = own;
	return false;
}

bool desc_is_over(int rc)
{
	return rc == -ESTALE || rc == -EACCES || rc == -EPERM ||
	       rc == -ENOENT || rc == -EBADF || rc == -EBADFD;
}

void desc_spoil(struct use *u, int rc)
{
	struct desc *d = u->desc;
	struct file *f = NULL;

	if (!desc_is_over(rc))
		return;
	pthread_mutex_lock(&d->lock);
	if (d->f == u->f) {
		f = take(d);
		d->state = NEVER;
		/* the mount's fsync does not cover these writes */
		d->owes = unsynced_has(f) ? rc : 0;
	}
	pthread_mutex_unlock(&d->lock);
	put(f);
}

int desc_owes(struct use *u)
{
	struct desc *d = u->desc;
	int rc;

	if (!d)
		return 0;
	pthread_mutex_lock(&d->lock);
	rc = d->owes;
	d->owes = 0;
	pthread_mutex_unlock(&d->lock);
	return rc;
}

void desc_end(struct use *u)
{
	if (u->f)
		file_put(u->f);
	u->f = NULL;
}

bool desc_stands(const struct use *u)
{
	struct ident id;

	return ident_get(u->fd, &id) && id.ino == u->f->handle &&
	       id.dev == u->door->id.dev && id.mount == u->door->id.mount;
}

void desc_close(int fd)
{
	struct self *s = self_there();

	if (s)
		forget(s, fd);
}

/* Another number of the same file may have written to it. */
void desc_refresh(int fd)
{
	struct self *s = self_there();
	struct ident id;

	if (s && ident_get(fd, &id) && door_find(&s->doors, fd, &id))
		ident_refresh(fd);
}

/* ---- periodic check by the thread ---- */

static bool sweep_one(struct desc *d, int fd, bool all)
{
	struct file *f = NULL;
	struct now now;
	bool left;

	pthread_mutex_lock(&d->lock);
	if (d->state == OPEN && (all || !look(fd, &now) || !is(d, &now)))
		f = take(d);
	left = d->state == OPEN;
	pthread_mutex_unlock(&d->lock);
	put(f);
	return left;
}

bool desc_sweep(struct self *s, bool all)
{
	unsigned int fd, most = atomic_load(&s->most);
	bool left = false;

	for (fd = 0; fd < most; fd++) {
		struct desc *d = desc_there(s, (int)fd);

		if (d && sweep_one(d, (int)fd, all))
			left = true;
	}
	return left;
}
