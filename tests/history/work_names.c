/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * work_names.c - the recorded calls on names.  The stripe size of a file, which stat shows, tells
 * which client created it.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include <pvfs.h>

#include "tests/history/work.h"

#define ID_STRIPE 64u /* bytes */

static void name_path(const struct work *w, unsigned int object, uint32_t name,
		      char path[4096])
{
	char folder[4096];

	work_path(w, OBJ_NAMES, object, folder);
	snprintf(path, 4096, "%.4000s/%c", folder, 'a' + (int)name);
}

static uint64_t name_id(const struct work *w)
{
	return (uint64_t)w->log.writer * (CREATES_MAX + 1) + w->creates;
}

static void create(struct work *w, unsigned int object, uint32_t name)
{
	struct pvfs_filestat meta = { .base = -1, .pcount = 1 };
	struct op *op;
	char path[4096];
	int fd;

	if (w->creates >= CREATES_MAX ||
	    !(op = log_next(&w->log, OP_CREATE, OBJ_NAMES, object, 0)))
		return;
	w->creates++;
	name_path(w, object, name, path);
	op->block = name;
	op->arg = name_id(w);
	meta.ssize = (int32_t)(op->arg * ID_STRIPE);
	op_begin(op);
	fd = pvfs_open(path, O_RDONLY | O_CREAT | O_EXCL | O_META, 0644, &meta);
	work_end(w, op, fd < 0 ? -1 : 0);
	if (fd >= 0)
		pvfs_close(fd);
}

int work_lookup(struct work *w, unsigned int object, uint32_t name)
{
	struct op *op = log_next(&w->log, OP_LOOKUP, OBJ_NAMES, object, 0);
	char path[4096];
	struct stat st;
	int rc;

	if (!op)
		return -ENOSPC;
	name_path(w, object, name, path);
	op->block = name;
	op_begin(op);
	rc = pvfs_stat(path, &st);
	if (!rc)
		op->arg = (uint64_t)st.st_blksize / ID_STRIPE;
	work_end(w, op, rc);
	return op->result;
}

static void unlink_name(struct work *w, unsigned int object, uint32_t name)
{
	struct op *op = log_next(&w->log, OP_UNLINK, OBJ_NAMES, object, 0);
	char path[4096];

	if (!op)
		return;
	name_path(w, object, name, path);
	op->block = name;
	op_begin(op);
	work_end(w, op, pvfs_unlink(path));
}

static void second_name(struct work *w, unsigned int object, enum op_kind kind)
{
	struct op *op = log_next(&w->log, kind, OBJ_NAMES, object, 0);
	char from[4096], to[4096];

	if (!op)
		return;
	op->block = roll(w, NAMES);
	op->count = (op->block + 1 + roll(w, NAMES - 1)) % NAMES;
	name_path(w, object, op->block, from);
	name_path(w, object, op->count, to);
	op_begin(op);
	work_end(w, op,
		 kind == OP_LINK ? pvfs_link(from, to) : pvfs_rename(from, to));
}

/* Creates a name that is never used again, so that the manager's tables grow. */
static void litter(struct work *w, unsigned int object)
{
	char folder[4096], path[4096];
	int fd;

	work_path(w, OBJ_NAMES, object, folder);
	snprintf(path, sizeof(path), "%.4000s/litter.%u.%u", folder,
		 w->log.writer, w->litter++);
	fd = pvfs_open(path, O_RDONLY | O_CREAT | O_EXCL, 0644);
	if (fd >= 0)
		pvfs_close(fd);
}

void step_names(struct work *w, unsigned int object)
{
	uint32_t name = roll(w, NAMES), what = roll(w, 115);

	if (what >= 100)
		litter(w, object);
	else if (what < 30)
		create(w, object, name);
	else if (what < 55)
		work_lookup(w, object, name);
	else if (what < 75)
		unlink_name(w, object, name);
	else
		second_name(w, object, what < 90 ? OP_RENAME : OP_LINK);
}
