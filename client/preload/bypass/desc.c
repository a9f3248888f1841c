/* SPDX-License-Identifier: BSD-2-Clause */
/* desc.c - see desc.h. */
#include "client/preload/bypass/desc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "client/lib/file/unsynced.h"
#include "client/preload/bypass/helper.h"

#define COMPARED_FLAGS (O_ACCMODE | O_APPEND | O_SYNC | O_DSYNC)

atomic_uchar desc_guess[DESC_NUMBERS], desc_appended[DESC_NUMBERS];

enum state { COLD, OPENING, OPEN, NEVER };

struct desc {
	pthread_mutex_t lock; /* protects all; not held while waiting */
	enum state state;
	struct ident id;
	int flags; /* COMPARED_FLAGS */
	struct fuse_mount *mount;
	unsigned int calls;
	uint64_t bytes;
	struct file *f; /* valid in state OPEN */
	int error; /* error of earlier writes that fsync must report, or 0 */
};

/* ---- the table ---- */

static struct desc *find_desc(struct desc_table *table, int fd)
{
	return atomic_load(&table->desc[fd]);
}

static struct desc *add_desc(struct desc_table *table, int fd)
{
	struct desc *d = calloc(1, sizeof(*d)), *none = NULL;
	unsigned int end = atomic_load(&table->end);

	if (!d)
		return NULL;
	pthread_mutex_init(&d->lock, NULL);
	if (!atomic_compare_exchange_strong(&table->desc[fd], &none, d)) {
		free(d);
		return none;
	}
	while (end <= (unsigned int)fd &&
	       !atomic_compare_exchange_weak(&table->end, &end,
					     (unsigned int)fd + 1))
		;
	return d;
}

static void put_file(struct file *f)
{
	if (!f)
		return;
	deadline_begin();
	file_put(f);
}

/* Called with the lock.  Returns the open file, which the caller passes to put_file(). */
static struct file *detach_file(struct desc *d)
{
	struct file *f = d->f;

	d->f = NULL;
	d->state = COLD;
	d->calls = 0;
	d->bytes = 0;
	d->error = 0;
	return f;
}

void desc_close(struct desc_table *table, int fd)
{
	struct desc *d = find_desc(table, fd);
	struct file *f;

	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	f = detach_file(d);
	d->id = (struct ident){ 0 };
	pthread_mutex_unlock(&d->lock);
	put_file(f);
}

/* ---- the present file of a number ---- */

struct fd_state {
	struct ident id;
	int flags; /* from F_GETFL */
};

static bool get_fd_state(int fd, struct fd_state *now)
{
	if (!ident_get(fd, &now->id))
		return false;
	now->flags = fcntl(fd, F_GETFL);
	return now->flags >= 0 && !(now->flags & O_PATH);
}

/* Called with the lock. */
static bool desc_matches(const struct desc *d, const struct fd_state *now)
{
	return ident_same(&d->id, &now->id) &&
	       d->flags == (now->flags & COMPARED_FLAGS);
}

static bool mode_permits(int flags, bool write)
{
	int mode = flags & O_ACCMODE;

	return mode == O_RDWR || mode == (write ? O_WRONLY : O_RDONLY);
}

/*
 * NULL: the file is on no mount.  If the descriptor is known, no lookup of its mount is
 * needed.
 */
static struct desc *update_desc(struct desc_table *table, int fd,
				const struct fd_state *now)
{
	struct desc *d = find_desc(table, fd);
	struct fuse_mount *mount;
	struct file *f;

	if (!d)
		d = add_desc(table, fd);
	if (!d)
		return NULL;
	pthread_mutex_lock(&d->lock);
	if (desc_matches(d, now)) {
		mount = d->mount;
		pthread_mutex_unlock(&d->lock);
		return mount ? d : NULL;
	}
	pthread_mutex_unlock(&d->lock);
	mount = fuse_mounts_find(table->mounts, fd, &now->id);
	pthread_mutex_lock(&d->lock);
	f = detach_file(d);
	d->id = now->id;
	d->flags = now->flags & COMPARED_FLAGS;
	d->mount = mount;
	pthread_mutex_unlock(&d->lock);
	put_file(f);
	return mount ? d : NULL;
}

/* ---- is bypassing worthwhile?  ---- */

/* Called with the lock. */
static bool bypass_pays_off(struct desc_table *table, struct desc *d,
			    uint64_t n)
{
	unsigned int calls = atomic_fetch_add(&table->kernel_calls, 1);
	uint64_t bytes = atomic_fetch_add(&table->kernel_bytes, n) + n;

	d->calls++;
	d->bytes += n;
	return (d->calls > table->threshold.calls_each ||
		d->bytes > table->threshold.bytes_each) &&
	       (calls >= table->threshold.calls_all ||
		bytes > table->threshold.bytes_all);
}

/* ---- open ---- */

/*
 * Temporary failures are retried by later calls.  Without permission, or for other files,
 * the state is NEVER.
 */
static enum state state_after_error(int rc)
{
	return rc == -EBUSY || rc == -EAGAIN ? COLD : NEVER;
}

static int open_file(struct desc_table *table, const struct desc_use *use,
		     const struct fd_state *now)
{
	struct desc *d = use->desc;
	struct file *f = NULL;
	int rc = fuse_mount_open(table->mounts, use->mount, use->fd, now->flags,
				 &f);

	if (!rc && f->handle != now->id.ino)
		rc = -ESTALE; /* the number refers to another file by now */
	pthread_mutex_lock(&d->lock);
	if (d->state == OPENING && desc_matches(d, now)) {
		d->state = rc ? state_after_error(rc) : OPEN;
		d->calls = 0;
		d->bytes = 0;
		if (!rc) {
			d->f = f;
			f = NULL;
		}
	}
	pthread_mutex_unlock(&d->lock);
	put_file(f);
	helper_wake(table->helper);
	return rc;
}

/*
 * Called with the lock, which is released while it waits, and with use->mount.
 * -ETIMEDOUT: the time of the call has passed.
 */
static int open_if_worthwhile(struct desc_table *table,
			      const struct desc_use *use,
			      const struct fd_state *now, uint64_t n)
{
	struct desc *d = use->desc;
	int rc;

	if (d->state != COLD || !bypass_pays_off(table, d, n))
		return 0;
	if (fuse_mount_is_marked(use->mount, now->id.ino))
		return 0;
	if (!table->threshold.at_once && !fuse_mount_is_connected(use->mount)) {
		fuse_mount_request_session(use->mount);
		helper_wake(table->helper);
		return 0;
	}
	d->state = OPENING;
	pthread_mutex_unlock(&d->lock);
	rc = open_file(table, use, now);
	pthread_mutex_lock(&d->lock);
	return rc;
}

/* ---- calls ---- */

/* Fills *use if the descriptor is on a mount and permits the access. */
static bool begin_use(struct desc_table *table, struct desc *d,
		      const struct fd_state *now, uint64_t n,
		      struct desc_use *use)
{
	bool ok = false, late = false;

	pthread_mutex_lock(&d->lock);
	*use = (struct desc_use){ use->fd, now->flags, d->mount, NULL, d };
	/* another thread may have used the number for another file meanwhile */
	if (n && desc_matches(d, now))
		late = open_if_worthwhile(table, use, now, n) == -ETIMEDOUT;
	if (d->state == OPEN && desc_matches(d, now))
		ok = !n || !fuse_mount_is_marked(use->mount, now->id.ino);
	if (ok)
		use->f = file_get(d->f);
	pthread_mutex_unlock(&d->lock);
	if (ok && n)
		atomic_fetch_add_explicit(&table->bypass_calls, 1,
					  memory_order_relaxed);
	return ok || late;
}

static void set_guess(int fd, bool ours)
{
	atomic_store_explicit(&desc_guess[fd], ours ? DESC_OURS : DESC_CALLS,
			      memory_order_relaxed);
}

bool desc_begin(struct desc_table *table, int fd, bool write, uint64_t n,
		struct desc_use *use)
{
	struct fd_state now;
	struct desc *d;

	if (!get_fd_state(fd, &now)) {
		desc_close(table, fd);
		set_guess(fd, false);
		return false;
	}
	d = update_desc(table, fd, &now);
	set_guess(fd, d != NULL);
	if (!d || !mode_permits(now.flags, write))
		return false;
	use->fd = fd;
	return begin_use(table, d, &now, n, use);
}

/* Finds a descriptor of the same file that may have written to it. */
static bool find_other_desc(struct desc_table *table,
			    const struct fd_state *now, struct desc_use *use)
{
	unsigned int fd, end = atomic_load(&table->end);
	struct desc *d;

	for (fd = 0; fd < end && !use->f; fd++) {
		d = find_desc(table, (int)fd);
		if (!d)
			continue;
		pthread_mutex_lock(&d->lock);
		if (d->state == OPEN && ident_same(&d->id, &now->id) &&
		    mode_permits(d->flags, true))
			*use = (struct desc_use){ use->fd, now->flags, d->mount,
						  file_get(d->f), d };
		pthread_mutex_unlock(&d->lock);
	}
	return use->f;
}

bool desc_find(struct desc_table *table, int fd, struct desc_use *use)
{
	struct desc *own;
	struct fd_state now;

	*use = (struct desc_use){ .fd = fd };
	if (table && desc_seems_ours(fd) && desc_begin(table, fd, true, 0, use))
		return true;
	own = use->desc;
	*use = (struct desc_use){ .fd = fd };
	if (table && get_fd_state(fd, &now) &&
	    find_other_desc(table, &now, use))
		return true;
	use->desc = own;
	return false;
}

bool desc_error_is_final(int rc)
{
	return rc == -ESTALE || rc == -EACCES || rc == -EPERM ||
	       rc == -ENOENT || rc == -EBADF || rc == -EBADFD;
}

void desc_fail(struct desc_use *use, int rc)
{
	struct desc *d = use->desc;
	struct file *f = NULL;

	if (!desc_error_is_final(rc))
		return;
	pthread_mutex_lock(&d->lock);
	if (d->f == use->f) {
		f = detach_file(d);
		d->state = NEVER;
		/* the mount's fsync does not cover these writes */
		d->error = unsynced_has(f) ? rc : 0;
	}
	pthread_mutex_unlock(&d->lock);
	put_file(f);
}

int desc_take_error(struct desc_use *use)
{
	struct desc *d = use->desc;
	int rc;

	if (!d)
		return 0;
	pthread_mutex_lock(&d->lock);
	rc = d->error;
	d->error = 0;
	pthread_mutex_unlock(&d->lock);
	return rc;
}

void desc_end(struct desc_use *use)
{
	if (use->f)
		file_put(use->f);
	use->f = NULL;
}

bool desc_is_current(const struct desc_use *use)
{
	struct ident id;

	return ident_get(use->fd, &id) && id.ino == use->f->handle &&
	       id.dev == use->mount->id.dev && id.mount == use->mount->id.mount;
}

/* Another number of the same file may have written to it. */
void desc_refresh(struct desc_table *table, int fd)
{
	struct ident id;

	if (ident_get(fd, &id) && fuse_mounts_find(table->mounts, fd, &id))
		ident_refresh(fd);
}

/* ---- periodic check ---- */

static bool sweep_desc(struct desc *d, int fd, bool all)
{
	struct file *f = NULL;
	struct fd_state now;
	bool remaining;

	pthread_mutex_lock(&d->lock);
	if (d->state == OPEN &&
	    (all || !get_fd_state(fd, &now) || !desc_matches(d, &now)))
		f = detach_file(d);
	remaining = d->state == OPEN;
	pthread_mutex_unlock(&d->lock);
	put_file(f);
	return remaining;
}

bool desc_sweep(struct desc_table *table, bool all)
{
	unsigned int fd, end = atomic_load(&table->end);
	bool remaining = false;

	for (fd = 0; fd < end; fd++) {
		struct desc *d = find_desc(table, (int)fd);

		if (d && sweep_desc(d, (int)fd, all))
			remaining = true;
	}
	return remaining;
}
