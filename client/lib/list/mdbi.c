/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mdbi.c - reads and writes blocks by list I/O.  The buffer has the blocks of one superblock, one
 * after the other.  A block in it is empty, or has the data of the file, or newer data.  Only
 * blocks with newer data are written, so that a write never overwrites other blocks with old data.
 */
#include "client/lib/list/mdbi.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/list/list_transfer.h"

enum { EMPTY, CLEAN, DIRTY };

struct mdbi {
	pthread_mutex_t lock;
	struct mdbi_shape shape;
	int factor[PVFS_MDBI_DIMS_MAX];
	size_t block; /* bytes of a block */
	size_t rows; /* rows of a block; each is contiguous in the file */
	size_t nblocks; /* blocks of a superblock */
	bool held; /* the buffer belongs to super[] */
	/* index of the superblock's first block */
	int super[PVFS_MDBI_DIMS_MAX];
	char *buf; /* nblocks * block bytes */
	unsigned char *state; /* nblocks elements */
};

static void mdbi_destroy(struct mdbi *m)
{
	pthread_mutex_destroy(&m->lock);
	free(m->buf);
	free(m->state);
	free(m);
}

int mdbi_new(struct file *f)
{
	struct mdbi *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->lock, NULL);
	f->mdbi = m;
	f->mdbi_free = mdbi_destroy;
	return 0;
}

/* ---- positions of blocks ---- */

/* The file offset of a row of the block. */
static uint64_t row_off(const struct mdbi *m, const int *index, size_t row)
{
	const struct mdbi_shape *s = &m->shape;
	uint64_t width = (uint64_t)s->record, off = 0, at;
	int d;

	for (d = 0; d < s->dims; d++) {
		at = (uint64_t)index[d] * (uint64_t)s->ne[d];
		if (d) {
			at += row % (size_t)s->ne[d];
			row /= (size_t)s->ne[d];
		}
		off += at * width;
		width *= (uint64_t)s->ne[d] * (uint64_t)s->nb[d];
	}
	return off;
}

static int add_block(const struct mdbi *m, struct transfer_list *list,
		     const int *index, char *mem)
{
	size_t len = m->block / m->rows, i;
	int rc = list_add_memory(list, mem, m->block);

	for (i = 0; i < m->rows && !rc; i++)
		rc = list_add_span(list, (int64_t)row_off(m, index, i), len);
	return rc;
}

/* The index of block number n in the superblock.  False: outside the array. */
static bool block_at(const struct mdbi *m, size_t n, int *index)
{
	bool inside = true;
	int d;

	for (d = 0; d < m->shape.dims; d++) {
		index[d] = m->super[d] + (int)(n % (size_t)m->factor[d]);
		n /= (size_t)m->factor[d];
		inside = inside && index[d] < m->shape.nb[d];
	}
	return inside;
}

static size_t number_of(const struct mdbi *m, const int *index)
{
	size_t n = 0, width = 1;
	int d;

	for (d = 0; d < m->shape.dims; d++) {
		n += (size_t)(index[d] - m->super[d]) * width;
		width *= (size_t)m->factor[d];
	}
	return n;
}

/* ---- transfers ---- */

static int one_block(struct mdbi *m, struct file *f, int fd, bool write,
		     char *buf, const int *index)
{
	struct transfer_list list;
	ssize_t n = list_init(&list, write, 1, m->rows, false);

	if (n)
		return (int)n;
	n = add_block(m, &list, index, buf);
	if (!n)
		n = list_run(f, fd, &list);
	list_free(&list);
	return n < 0 ? (int)n : 0;
}

/* Transfers all blocks of the buffer that are in this state, as one list. */
static int all_blocks(struct mdbi *m, struct file *f, int fd, bool write,
		      int state)
{
	int index[PVFS_MDBI_DIMS_MAX];
	struct transfer_list list;
	ssize_t rc = list_init(&list, write, m->nblocks, m->nblocks * m->rows,
			       false);
	size_t i;

	if (rc)
		return (int)rc;
	for (i = 0; i < m->nblocks && !rc; i++) {
		if (m->state[i] == state && block_at(m, i, index))
			rc = add_block(m, &list, index, m->buf + i * m->block);
	}
	if (!rc)
		rc = list_run(f, fd, &list);
	list_free(&list);
	for (i = 0; i < m->nblocks && rc >= 0; i++) {
		if (m->state[i] == state)
			m->state[i] = CLEAN;
	}
	return rc < 0 ? (int)rc : 0;
}

static int write_back(struct mdbi *m, struct file *f, int fd)
{
	if (!m->held || !memchr(m->state, DIRTY, m->nblocks))
		return 0;
	return all_blocks(m, f, fd, true, DIRTY);
}

/* Makes the buffer hold the superblock of the block. */
static int superblock_select(struct mdbi *m, struct file *f, int fd,
			     const int *index)
{
	int first[PVFS_MDBI_DIMS_MAX] = { 0 }, d, rc;

	for (d = 0; d < m->shape.dims; d++)
		first[d] = index[d] - index[d] % m->factor[d];
	if (m->held && !memcmp(first, m->super, sizeof(first)))
		return 0;
	rc = write_back(m, f, fd);
	if (rc)
		return rc;
	memcpy(m->super, first, sizeof(first));
	memset(m->state, EMPTY, m->nblocks);
	m->held = true;
	return 0;
}

static int superblock_read(struct mdbi *m, struct file *f, int fd)
{
	size_t i;

	for (i = 0; i < m->nblocks; i++) {
		if (m->state[i] == EMPTY)
			memset(m->buf + i * m->block, 0, m->block);
	}
	return all_blocks(m, f, fd, false, EMPTY);
}

/* ---- the calls, with the lock held ---- */

static int check_index(const struct mdbi *m, const int *index)
{
	int d;

	for (d = 0; d < m->shape.dims; d++) {
		if (index[d] < 0 || index[d] >= m->shape.nb[d])
			return -EINVAL;
	}
	return m->shape.dims ? 0 : -EINVAL;
}

static int read_block(struct mdbi *m, struct file *f, int fd, char *buf,
		      const int *index)
{
	size_t n;
	int rc;

	if (!m->buf) {
		memset(buf, 0, m->block);
		return one_block(m, f, fd, false, buf, index);
	}
	rc = superblock_select(m, f, fd, index);
	n = number_of(m, index);
	if (!rc && m->state[n] == EMPTY)
		rc = superblock_read(m, f, fd);
	if (!rc)
		memcpy(buf, m->buf + n * m->block, m->block);
	return rc;
}

static int write_block(struct mdbi *m, struct file *f, int fd, const char *buf,
		       const int *index)
{
	size_t n;
	int rc;

	/* the block could never be written */
	if ((atomic_load(&f->flags) & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	if (!m->buf)
		return one_block(m, f, fd, true, (char *)(uintptr_t)buf, index);
	rc = superblock_select(m, f, fd, index);
	if (rc)
		return rc;
	n = number_of(m, index);
	memcpy(m->buf + n * m->block, buf, m->block);
	m->state[n] = DIRTY;
	return 0;
}

static int flush_locked(struct mdbi *m, struct file *f, int fd)
{
	int rc = write_back(m, f, fd);

	if (!rc)
		m->held = false;
	return rc;
}

static int check_shape(const struct mdbi_shape *s, uint64_t *block)
{
	uint64_t all = (uint64_t)s->record;
	int d;

	if (s->dims < 1 || s->dims > PVFS_MDBI_DIMS_MAX || s->record < 1)
		return -EINVAL;
	*block = all;
	for (d = 0; d < s->dims; d++) {
		if (s->ne[d] < 1 || s->nb[d] < 1)
			return -EINVAL;
		*block *= (uint64_t)s->ne[d];
		if (*block > INT_MAX ||
		    __builtin_mul_overflow(
			    all, (uint64_t)s->ne[d] * (uint64_t)s->nb[d],
			    &all) ||
		    all > INT64_MAX)
			return -EINVAL;
	}
	return 0;
}

static void buffer_free(struct mdbi *m)
{
	free(m->buf);
	free(m->state);
	m->buf = NULL;
	m->state = NULL;
	m->held = false;
}

static int shape_locked(struct mdbi *m, struct file *f, int fd,
			const struct mdbi_shape *shape)
{
	uint64_t block;
	int rc = check_shape(shape, &block);

	if (!rc)
		rc = flush_locked(m, f, fd);
	if (rc)
		return rc;
	buffer_free(m);
	m->shape = *shape;
	m->block = (size_t)block;
	m->rows = (size_t)block / (size_t)shape->record / (size_t)shape->ne[0];
	return 0;
}

static int buffer_locked(struct mdbi *m, struct file *f, int fd,
			 const int *factor)
{
	uint64_t n = 1;
	char *buf;
	unsigned char *state;
	int d, rc = m->shape.dims ? flush_locked(m, f, fd) : -EINVAL;

	for (d = 0; d < m->shape.dims && !rc; d++) {
		n *= factor[d] < 1 ? 0 : (uint64_t)factor[d];
		rc = !n || n * m->block > INT_MAX ? -EINVAL : 0;
	}
	if (rc)
		return rc;
	buf = n > 1 ? malloc(n * m->block) : NULL;
	state = n > 1 ? calloc(n, 1) : NULL;
	if (n > 1 && (!buf || !state)) {
		free(buf);
		free(state);
		return -ENOMEM;
	}
	buffer_free(m);
	memcpy(m->factor, factor, sizeof(m->factor));
	m->nblocks = (size_t)n;
	m->buf = buf;
	m->state = state;
	return 0;
}

/* ---- the calls, taking the lock ---- */

int mdbi_set(struct mdbi *m, struct file *f, int fd,
	     const struct mdbi_shape *shape)
{
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = shape_locked(m, f, fd, shape);
	pthread_mutex_unlock(&m->lock);
	return rc;
}

int mdbi_buffer(struct mdbi *m, struct file *f, int fd, const int *factor)
{
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = buffer_locked(m, f, fd, factor);
	pthread_mutex_unlock(&m->lock);
	return rc;
}

int mdbi_dims(struct mdbi *m)
{
	int dims;

	pthread_mutex_lock(&m->lock);
	dims = m->shape.dims;
	pthread_mutex_unlock(&m->lock);
	return dims;
}

int mdbi_read(struct mdbi *m, struct file *f, int fd, char *buf,
	      const int *index)
{
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = check_index(m, index);
	if (!rc)
		rc = read_block(m, f, fd, buf, index);
	if (!rc)
		rc = (int)m->block;
	pthread_mutex_unlock(&m->lock);
	return rc;
}

int mdbi_write(struct mdbi *m, struct file *f, int fd, const char *buf,
	       const int *index)
{
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = check_index(m, index);
	if (!rc)
		rc = write_block(m, f, fd, buf, index);
	if (!rc)
		rc = (int)m->block;
	pthread_mutex_unlock(&m->lock);
	return rc;
}

int mdbi_flush(struct mdbi *m, struct file *f, int fd)
{
	int rc;

	pthread_mutex_lock(&m->lock);
	rc = flush_locked(m, f, fd);
	pthread_mutex_unlock(&m->lock);
	return rc;
}
