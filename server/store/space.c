/* SPDX-License-Identifier: BSD-2-Clause */
/* space.c - allocating and freeing the space of an object, and finding its data and holes. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/store/store_int.h"

static int space(const struct store_obj *obj, int mode, uint64_t off,
		 uint64_t len)
{
	while (fallocate(obj->fd, mode, (off_t)off, (off_t)len))
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* As space(), for a file system that can only punch holes (tmpfs). */
static int zero(const struct store_obj *obj, int keep, uint64_t off,
		uint64_t len)
{
	int rc = space(obj, FALLOC_FL_ZERO_RANGE | keep, off, len);

	if (rc != -EOPNOTSUPP)
		return rc;
	rc = space(obj, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off, len);
	return rc ? rc : space(obj, keep, off, len);
}

/* Marks the object: from then on its number of blocks does not tell whether it has holes. */
static int note_padding(const struct store_obj *obj, uint64_t end)
{
	struct stat sb;

	if (fstat(obj->fd, &sb))
		return -errno;
	if (end <= (uint64_t)sb.st_size || sb.st_mode & STORE_PADDED)
		return 0;
	return fchmod(obj->fd, sb.st_mode | STORE_PADDED) ? -errno : 0;
}

int store_obj_space(struct store_obj *obj, enum store_space how, bool keep,
		    uint64_t off, uint64_t len)
{
	int flag = keep ? FALLOC_FL_KEEP_SIZE : 0;
	int rc = keep && how != STORE_PUNCH ? note_padding(obj, off + len) : 0;

	if (rc)
		return rc;
	switch (how) {
	case STORE_PUNCH:
		return space(obj, FALLOC_FL_PUNCH_HOLE | flag, off, len);
	case STORE_ZERO:
		return zero(obj, flag, off, len);
	case STORE_ALLOCATE:
		break;
	}
	return space(obj, flag, off, len);
}

int store_obj_seek(struct store_obj *obj, bool hole, uint64_t off, uint64_t *at)
{
	off_t found = lseek(obj->fd, (off_t)off, hole ? SEEK_HOLE : SEEK_DATA);

	if (found < 0 && errno == ENXIO && hole) /* off is beyond the end */
		found = (off_t)off;
	if (found < 0)
		return -errno;
	*at = (uint64_t)found;
	return 0;
}
