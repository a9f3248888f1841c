/* SPDX-License-Identifier: BSD-2-Clause */
/* work_data.c - the recorded calls on files. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <pvfs.h>

#include "tests/history/work.h"

static uint64_t place_of(const struct op *op, uint32_t k)
{
	uint64_t file = (uint64_t)op->object_kind << 8 | op->object;

	return op->object_kind == OBJ_TAIL ? file
					   : file << 32 | (op->block + k + 1);
}

static void fill(struct work *w, const struct op *op)
{
	uint32_t k;

	for (k = 0; k < op->count; k++)
		block_fill(w->buf + (size_t)k * BLOCK,
			   value_of(op->writer, op->no, k), place_of(op, k));
}

/* Returns the record for a call on this object, or NULL if the call is impossible. */
static struct op *call(struct work *w, enum op_kind kind, enum object_kind ok,
		       unsigned int object, uint32_t nval, int *fd)
{
	*fd = work_fd(w, ok, object);
	return *fd < 0 ? NULL : log_next(&w->log, kind, ok, object, nval);
}

int work_write(struct work *w, enum object_kind kind, unsigned int object,
	       uint32_t block, uint32_t count, uint64_t arg)
{
	int fd;
	struct op *op = call(w, OP_WRITE, kind, object, 0, &fd);
	int64_t rc;

	if (!op)
		return -EBADF;
	op->block = block;
	op->count = count;
	op->arg = arg;
	fill(w, op);
	op_begin(op);
	rc = pvfs_pwrite(fd, w->buf, (size_t)count * BLOCK,
			 (int64_t)block * BLOCK);
	work_end(w, op, rc < 0 ? rc : rc / BLOCK);
	return op->result;
}

int work_append(struct work *w, unsigned int object, uint32_t count)
{
	int fd;
	struct op *op = call(w, OP_APPEND, OBJ_TAIL, object, 0, &fd);
	int64_t rc;

	if (!op)
		return -EBADF;
	op->count = count;
	fill(w, op);
	op_begin(op);
	rc = pvfs_write(fd, w->buf, (size_t)count * BLOCK);
	work_end(w, op, rc < 0 ? rc : rc / BLOCK);
	return op->result;
}

static void values(struct work *w, struct op *op)
{
	uint32_t k;

	for (k = 0; k < op->count; k++)
		op->val[k] = block_value(w->buf + (size_t)k * BLOCK,
					 place_of(op, k));
}

int work_read(struct work *w, enum object_kind kind, unsigned int object,
	      uint32_t block, uint32_t count)
{
	int fd;
	struct op *op = call(w, OP_READ, kind, object, count, &fd);
	size_t len = (size_t)count * BLOCK;
	int64_t rc;

	if (!op)
		return -EBADF;
	op->block = block;
	op->count = count;
	memset(w->buf, 0x5a, len);
	op_begin(op);
	rc = pvfs_pread(fd, w->buf, len, (int64_t)block * BLOCK);
	if (rc >= 0) {
		memset(w->buf + rc, 0, len - (size_t)rc);
		values(w, op);
		rc = (rc + BLOCK - 1) / BLOCK;
	}
	work_end(w, op, rc);
	return op->result;
}

int work_truncate(struct work *w, unsigned int object, uint32_t blocks)
{
	int fd;
	struct op *op = call(w, OP_TRUNCATE, OBJ_CUT, object, 0, &fd);
	char path[4096];
	int rc;

	if (!op)
		return -EBADF;
	work_path(w, OBJ_CUT, object, path);
	op->block = blocks;
	op_begin(op);
	if (blocks & 1)
		rc = pvfs_truncate(path, (int64_t)blocks * BLOCK);
	else
		rc = pvfs_ftruncate(fd, (int64_t)blocks * BLOCK);
	work_end(w, op, rc);
	return op->result;
}

int work_size(struct work *w, enum object_kind kind, unsigned int object)
{
	int fd;
	struct op *op = call(w, OP_SIZE, kind, object, 0, &fd);
	char path[4096];
	struct stat st;
	int64_t rc;

	if (!op)
		return -EBADF;
	work_path(w, kind, object, path);
	op_begin(op);
	rc = roll(w, 2) ? pvfs_stat(path, &st) : pvfs_fstat(fd, &st);
	work_end(w, op, rc < 0 ? rc : (st.st_size + BLOCK - 1) / BLOCK);
	return op->result;
}

int work_sync(struct work *w, enum object_kind kind, unsigned int object)
{
	int fd;
	struct op *op = call(w, OP_SYNC, kind, object, 0, &fd);

	if (!op)
		return -EBADF;
	op_begin(op);
	work_end(w, op, pvfs_fsync(fd));
	return op->result;
}
