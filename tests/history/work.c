/* SPDX-License-Identifier: BSD-2-Clause */
/* work.c - see work.h: functions that all calls use. */
#include "tests/history/work.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include <pvfs.h>

uint32_t roll(struct work *w, uint32_t below)
{
	w->rng = w->rng * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((w->rng >> 33) % below);
}

void pause_us(struct work *w, unsigned int most)
{
	struct timespec ts = { 0 };

	if (!most)
		return;
	ts.tv_nsec = (long)roll(w, most) * 1000;
	nanosleep(&ts, NULL);
}

bool over(const struct work *w)
{
	return log_full(&w->log) || boot_ns() >= w->until;
}

void work_path(const struct work *w, enum object_kind kind, unsigned int object,
	       char path[4096])
{
	static const char *const name[OBJ_KINDS] = {
		"plain", "cut", "tail", "guard", "names",
	};

	snprintf(path, 4096, "%s/%s.%u", w->dir, name[kind], object);
}

int work_fd(struct work *w, enum object_kind kind, unsigned int object)
{
	int *fd = &w->fd[kind][object];
	char path[4096];

	if (*fd >= 0)
		return *fd;
	work_path(w, kind, object, path);
	*fd = pvfs_open(path, O_RDWR | (kind == OBJ_TAIL ? O_APPEND : 0));
	return *fd < 0 ? -errno : *fd;
}

void work_close(struct work *w, enum object_kind kind, unsigned int object)
{
	if (w->fd[kind][object] >= 0)
		pvfs_close(w->fd[kind][object]);
	w->fd[kind][object] = -1;
	if (kind == OBJ_GUARD)
		w->hold[object] = 0;
}

void work_end(struct work *w, struct op *op, int64_t rc)
{
	int err = rc < 0 ? errno : 0;

	op_end(op, rc < 0 ? -err : (int32_t)rc);
	w->failed |= err == ETIMEDOUT;
	if (err == ESTALE || err == EBADF)
		work_close(w, op->object_kind, op->object);
}
