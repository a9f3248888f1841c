/* SPDX-License-Identifier: BSD-2-Clause */
/* written_files.c - see written_files.h. */
#include "client/preload/bypass/written_files.h"

#include <errno.h>
#include <fcntl.h>

#include "client/lib/file/unsynced.h"

static bool has_handle(const struct written_files *w, uint64_t handle)
{
	return atomic_load_explicit(&w->slot[shortcut_slot(handle)],
				    memory_order_relaxed);
}

bool written_files_have(const struct written_files *w, int fd)
{
	struct ident id;

	return ident_get(fd, &id) && has_handle(w, id.ino);
}

bool written_files_open(const struct written_files *w,
			struct fuse_mounts *mounts, int fd,
			struct desc_use *use)
{
	struct ident id;
	struct file *f;

	*use = (struct desc_use){ .fd = fd };
	if (!ident_get(fd, &id))
		return false;
	use->flags = fcntl(fd, F_GETFL);
	if (use->flags < 0 || use->flags & O_PATH || !has_handle(w, id.ino))
		return false;
	use->mount = fuse_mounts_find(mounts, fd, &id);
	if (!use->mount ||
	    fuse_mount_open(mounts, use->mount, fd, use->flags, &f))
		return false;
	if (f->handle == id.ino)
		use->f = f;
	else
		file_put(f);
	return use->f;
}

static void report_to_mount(const struct desc_use *use, int rc)
{
	const struct shortcut_lost what = { .error = (uint32_t)-rc };

	if (desc_is_current(use))
		ioctl(use->fd, SHORTCUT_LOST, &what);
}

/* Without a session, the mount's fsync is enough for data written through it. */
static int sync_own(struct desc_use *use)
{
	int rc;

	deadline_begin();
	rc = file_sync(use->f);
	if (!use->desc || !desc_error_is_final(rc))
		return rc;
	desc_fail(use, rc);
	return desc_take_error(use);
}

int written_files_sync(struct desc_use *use, int rc)
{
	int own;

	if (rc && !unsynced_is_loss(rc))
		return rc;
	own = sync_own(use);
	if (unsynced_is_loss(own) && !rc)
		report_to_mount(use, own);
	return rc ? rc : own;
}
