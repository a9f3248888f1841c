/* SPDX-License-Identifier: BSD-2-Clause */
/* wrote.c - see wrote.h. */
#include "client/preload/wrote.h"

#include <errno.h>
#include <fcntl.h>

#include "client/preload/self.h"
#include "client/lib/file/unsynced.h"

atomic_uchar wrote[SHORTCUT_SLOTS];

static bool has(uint64_t handle)
{
	return atomic_load_explicit(&wrote[shortcut_slot(handle)],
				    memory_order_relaxed);
}

/* Entries that are 0 are not written, so that their pages stay shared. */
void wrote_forked(void)
{
	for (unsigned int i = 0; i < SHORTCUT_SLOTS; i++)
		if (atomic_load_explicit(&wrote[i], memory_order_relaxed))
			atomic_store_explicit(&wrote[i], 0,
					      memory_order_relaxed);
}

/* NULL: it was not written past a mount, or cannot be opened now. */
static struct file *opened(struct self *s, const struct ident *id,
			   struct use *u)
{
	struct file *f;

	u->flags = fcntl(u->fd, F_GETFL);
	if (u->flags < 0 || u->flags & O_PATH || !has(id->ino))
		return NULL;
	u->door = door_find(&s->doors, u->fd, id);
	if (!u->door || door_open(&s->doors, u->door, u->fd, u->flags, &f))
		return NULL;
	if (f->handle == id->ino)
		return f;
	file_put(f);
	return NULL;
}

bool wrote_is(int fd)
{
	struct ident id;

	return self_there() && ident_get(fd, &id) && has(id.ino);
}

bool wrote_look(int fd, struct use *u)
{
	struct self *s = self_there();
	struct ident id;

	*u = (struct use){ .fd = fd };
	if (s && ident_get(fd, &id))
		u->f = opened(s, &id, u);
	return u->f;
}

static void tell_mount(const struct use *u, int rc)
{
	const struct shortcut_lost what = { .error = (uint32_t)-rc };

	if (desc_stands(u))
		ioctl(u->fd, SHORTCUT_LOST, &what);
}

/* Without a session, the mount's fsync is enough for data written through it. */
static int sync_ours(struct use *u)
{
	int rc;

	deadline_begin();
	rc = file_sync(u->f);
	if (!u->desc || !desc_is_over(rc))
		return rc;
	desc_spoil(u, rc);
	return desc_owes(u);
}

int wrote_sync(struct use *u, int rc)
{
	int ours;

	if (rc && !unsynced_is_loss(rc))
		return rc;
	ours = sync_ours(u);
	if (unsynced_is_loss(ours) && !rc)
		tell_mount(u, ours);
	return rc ? rc : ours;
}
