/* SPDX-License-Identifier: BSD-2-Clause */
/* model_file.c - random calls on descriptors. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/e2e/lib/model.h"

static int64_t any_off(struct model *m)
{
	switch (roll(m, 4)) {
	case 0:
		return roll(m, 100);
	case 1:
		return roll(m, 5000);
	case 2:
		return roll(m, FILE_MAX / 2);
	}
	return (int64_t)roll(m, 8) * 4096;
}

static size_t any_len(struct model *m)
{
	static const uint32_t max[] = { 1, 100, 5000, 66000, FILE_MAX / 2 };

	return roll(m, max[roll(m, 5)] + 1);
}

static void random_bytes(struct model *m, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		m->buf[A][i] = (char)(1 + (m->seed >> 3) + i * 7);
	for (int s = A + 1; s < SIDES; s++)
		memcpy(m->buf[s], m->buf[A], n);
}

static void blank_bytes(struct model *m, size_t n)
{
	memset(m->buf[A], 0x55, n);
	memset(m->buf[B], 0x55, n);
}

static int any_flags(struct model *m)
{
	static const int access[] = { O_RDWR, O_RDWR, O_WRONLY, O_RDONLY };
	int flags = access[roll(m, 4)];

	if (chance(m, 60))
		flags |= O_CREAT;
	if (chance(m, 15))
		flags |= O_EXCL;
	if (chance(m, 10) && (flags & O_ACCMODE) != O_RDONLY)
		flags |= O_TRUNC;
	if (chance(m, 15))
		flags |= O_APPEND;
	if (chance(m, 8))
		flags |= O_NOFOLLOW;
	if (chance(m, 8) && !(flags & O_CREAT))
		flags |= O_DIRECTORY;
	if (chance(m, 5))
		flags |= O_SYNC;
	/* undefined without O_CREAT */
	return flags & O_CREAT ? flags : flags & ~O_EXCL;
}

static void op_open(struct model *m)
{
	struct pvfs_filestat meta = { -1, -1, -1, 0, 0 };
	struct pair *p = &m->pair[roll(m, PAIRS)];
	int flags = any_flags(m), mode = (int)any_mode(m, 01000, 0600);
	const char *name = any_path(m, 0);

	if (p->used)
		return;
	if (chance(m, 70))
		meta.ssize = (int32_t)(64u << roll(m, 9));
	if (chance(m, 50))
		meta.pcount = 1 + (int32_t)roll(m, 3);
	if (chance(m, 30))
		meta.base = (int32_t)roll(m, 3);
	what(m, "open %s flags %o mode %o (%d:%d:%d)", name, flags, mode,
	     meta.base, meta.pcount, meta.ssize);
	p->flags = flags;
	m->at = (int)(p - m->pair);
	BOTH(m, (p->fd[s] = pvfs_open(m->path[s][0], flags | O_META, mode,
				      &meta)) >= 0
			? 0
			: -1);
	p->used = p->fd[A] >= 0;
	p->shared = false;
	p->parted = false;
}

static void op_close(struct model *m, struct pair *p)
{
	what(m, "close");
	p->used = false;
	BOTH(m, pvfs_close(p->fd[s]));
}

static void op_write(struct model *m, struct pair *p)
{
	size_t n = any_len(m);

	random_bytes(m, n);
	what(m, "write %zu", n);
	BOTH(m, pvfs_write(p->fd[s], m->buf[s], n));
}

static void op_pwrite(struct model *m, struct pair *p)
{
	int64_t off = any_off(m);
	size_t n = any_len(m);

	random_bytes(m, n);
	what(m, "pwrite %zu at %ld", n, (long)off);
	BOTH(m, pvfs_pwrite(p->fd[s], m->buf[s], n, off));
}

static void op_read(struct model *m, struct pair *p)
{
	size_t n = any_len(m);

	blank_bytes(m, n);
	what(m, "read %zu", n);
	BOTH(m, pvfs_read(p->fd[s], m->buf[s], n));
	same_bytes(m, (int64_t)n);
}

static void op_pread(struct model *m, struct pair *p)
{
	int64_t off = any_off(m);
	size_t n = any_len(m);

	blank_bytes(m, n);
	what(m, "pread %zu at %ld", n, (long)off);
	BOTH(m, pvfs_pread(p->fd[s], m->buf[s], n, off));
	same_bytes(m, (int64_t)n);
}

/* Divides buf into random pieces. */
static int pieces(struct model *m, struct iovec iov[SIDES][40])
{
	int n = (int)roll(m, 40), i;
	size_t at = 0;

	for (i = 0; i < n; i++) {
		size_t len = roll(m, chance(m, 10) ? 15000 : 300);

		for (int s = A; s < SIDES; s++)
			iov[s][i] = (struct iovec){ m->buf[s] + at, len };
		at += len;
	}
	return n;
}

static void op_vector(struct model *m, struct pair *p)
{
	struct iovec iov[SIDES][40];
	int n = pieces(m, iov);
	int64_t off = any_off(m);

	what(m, "%d pieces, offset %ld", n, (long)off);
	switch (roll(m, 4)) {
	case 0:
		random_bytes(m, FILE_MAX);
		BOTH(m, pvfs_writev(p->fd[s], iov[s], n));
		return;
	case 1:
		random_bytes(m, FILE_MAX);
		BOTH(m, pvfs_pwritev(p->fd[s], iov[s], n, off));
		return;
	case 2:
		blank_bytes(m, FILE_MAX);
		BOTH(m, pvfs_readv(p->fd[s], iov[s], n));
		break;
	default:
		blank_bytes(m, FILE_MAX);
		BOTH(m, pvfs_preadv(p->fd[s], iov[s], n, off));
	}
	same_bytes(m, FILE_MAX);
}

static void op_seek(struct model *m, struct pair *p)
{
	struct stat st;
	int whence = (int)roll(m, 3);
	int64_t off = any_off(m) - (chance(m, 20) ? 3000 : 0);

	if (pvfs_fstat(p->fd[B], &st) || S_ISDIR(st.st_mode))
		return;
	what(m, "lseek %ld whence %d", (long)off, whence);
	BOTH(m, pvfs_lseek(p->fd[s], off, whence));
}

static void op_ftruncate(struct model *m, struct pair *p)
{
	int64_t size = any_off(m) - (chance(m, 5) ? 100 : 0);

	what(m, "ftruncate %ld", (long)size);
	BOTH(m, pvfs_ftruncate(p->fd[s], size));
}

static void op_fstat(struct model *m, struct pair *p)
{
	struct stat st[SIDES];

	what(m, "fstat");
	BOTH(m, pvfs_fstat(p->fd[s], &st[s]));
	same_stat(m, st);
}

static void op_fattr(struct model *m, struct pair *p)
{
	struct timespec ts[2] = { { 1000000, 5 },
				  { 1000 + roll(m, 1000), 1234 } };
	mode_t mode = any_mode(m, 010000, 0600);

	if (chance(m, 50)) {
		what(m, "fchmod %o", mode);
		BOTH(m, pvfs_fchmod(p->fd[s], mode));
	} else {
		what(m, "futimens %ld", (long)ts[1].tv_sec);
		BOTH(m, pvfs_futimens(p->fd[s], ts));
	}
}

static void op_dup(struct model *m, struct pair *p)
{
	struct pair *q = &m->pair[roll(m, PAIRS)];

	if (p == q)
		return;
	what(m, "dup");
	if (q->used && chance(m, 50)) {
		BOTH(m, pvfs_dup2(p->fd[s], q->fd[s]) == q->fd[s]);
	} else if (!q->used) {
		for (int s = A; s < SIDES; s++) {
			q->fd[s] = chance(m, 50)
					   ? pvfs_dup(p->fd[s])
					   : pvfs_fcntl(p->fd[s], F_DUPFD, 50);
			if (q->fd[s] < 0)
				differ(m, "side %d: %s", s, strerror(errno));
		}
	} else {
		return;
	}
	q->used = true;
	p->shared = q->shared = true;
	q->parted = p->parted;
	q->flags = p->flags;
}

static void op_flags(struct model *m, struct pair *p)
{
	int mask = O_ACCMODE | O_APPEND;
	int flags = chance(m, 30) ? O_APPEND : 0;

	/*
	 * to stop appending, PVFS opens the file again, which fails if a chmod has removed the
	 * right
	 */
	if (geteuid() != 0 && !flags)
		return;
	what(m, "F_SETFL %o", flags);
	BOTH(m, pvfs_fcntl(p->fd[s], F_SETFL, flags));
	BOTH(m, pvfs_fcntl(p->fd[s], F_GETFL) & mask);
}

static void op_sync(struct model *m, struct pair *p)
{
	what(m, "fsync");
	BOTH(m, pvfs_fsync(p->fd[s]));
}

static void op_mmap(struct model *m, struct pair *p)
{
	struct stat st;
	void *map[SIDES];

	if (pvfs_fstat(p->fd[B], &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return;
	what(m, "mmap %ld", (long)st.st_size);
	BOTH(m, (map[s] = pvfs_mmap(NULL, (size_t)st.st_size, PROT_READ,
				    MAP_PRIVATE, p->fd[s], 0)) == MAP_FAILED
			? -1
			: 0);
	if (map[A] == MAP_FAILED)
		return;
	if (memcmp(map[A], map[B], (size_t)st.st_size)) {
		long i = 0;
		while (((char *)map[A])[i] == ((char *)map[B])[i])
			i++;
		differ(m, "content of the mappings at %ld: %d %d", i,
		       ((char *)map[A])[i], ((char *)map[B])[i]);
	}
	for (int s = A; s < SIDES; s++)
		pvfs_munmap(map[s], (size_t)st.st_size);
}

/* Partitions work the same through the library on an ordinary file. */
static void op_part(struct model *m, struct pair *p)
{
	struct fpart part = { 0 }, got[SIDES];

	if (chance(m, 60)) {
		part.offset = roll(m, 1000);
		part.gsize = roll(m, 3000);
		part.stride = part.gsize + roll(m, 3000);
	}
	/* an ordinary descriptor that was duplicated before does not get the partition */
	if (p->shared)
		return;
	if ((p->flags | pvfs_fcntl(p->fd[B], F_GETFL)) &
	    (O_APPEND | O_DIRECTORY))
		return;
	p->parted = true;
	what(m, "SETPART %ld %ld %ld", (long)part.offset, (long)part.gsize,
	     (long)part.stride);
	BOTH(m, pvfs_ioctl(p->fd[s], SETPART, &part));
	BOTH(m, pvfs_ioctl(p->fd[s], GETPART, &got[s]));
	if (memcmp(&got[A], &got[B], sizeof(part)))
		differ(m, "GETPART");
}

static void op_space(struct model *m, struct pair *p)
{
	static const int modes[] = {
		0,
		FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_ZERO_RANGE,
		FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		FALLOC_FL_PUNCH_HOLE,
		FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE |
			FALLOC_FL_KEEP_SIZE,
	};
	int mode = modes[roll(m, sizeof(modes) / sizeof(modes[0]))];
	int64_t off = any_off(m), len = (int64_t)any_len(m);

	if (chance(m, 3))
		off = chance(m, 50) ? -1 : INT64_MAX - 5;
	if (mode & FALLOC_FL_ZERO_RANGE && getenv("MODEL_NO_ZEROING"))
		return;
	what(m, "fallocate %x %ld at %ld", mode, (long)len, (long)off);
	BOTH(m, pvfs_fallocate(p->fd[s], mode, off, len));
}

/*
 * Returns whether the pair can be copied: not if it had a partition, because the library then
 * copies an ordinary file in pieces.
 */
static bool copies(struct pair *p)
{
	struct stat st;

	return !p->parted && !pvfs_fstat(p->fd[B], &st) && st.st_nlink;
}

static void op_copy(struct model *m, struct pair *from)
{
	struct pair *to = any_pair(m);
	int64_t at[2] = { any_off(m), any_off(m) }, in[SIDES], out[SIDES];
	size_t len = any_len(m);
	bool in_at = chance(m, 50), out_at = chance(m, 50);

	if (!to || !copies(from) || !copies(to))
		return;
	in[A] = in[B] = at[0];
	out[A] = out[B] = at[1];
	what(m, "copy %zu from %ld (%d) to %ld (%d) of pair %d", len,
	     (long)at[0], in_at, (long)at[1], out_at, (int)(to - m->pair));
	BOTH(m,
	     pvfs_copy_file_range(from->fd[s], in_at ? &in[s] : NULL, to->fd[s],
				  out_at ? &out[s] : NULL, len, 0));
	if (in[A] != in[B] || out[A] != out[B])
		differ(m, "offsets %ld, %ld", (long)in[A], (long)out[A]);
	BOTH(m, pvfs_lseek(to->fd[s], 0, SEEK_CUR));
}

#define PASSED_MAX 65536

/* The positions of data and holes depend on stripes and blocks, so only the content is checked. */
static void op_find(struct model *m, struct pair *p)
{
	int64_t off = any_off(m), pos[SIDES], size, data, hole, len;
	struct fpart part;

	if (pvfs_ioctl(p->fd[B], GETPART, &part) || part.offset || part.gsize)
		return;
	what(m, "find data and holes from %ld", (long)off);
	for (int s = A; s < SIDES; s++)
		pos[s] = pvfs_lseek(p->fd[s], 0, SEEK_CUR);
	size = pvfs_lseek(p->fd[A], 0, SEEK_END);
	data = pvfs_lseek(p->fd[A], off, SEEK_DATA);
	hole = pvfs_lseek(p->fd[A], off, SEEK_HOLE);
	if (off >= size ? hole >= 0 : hole < off || hole > size)
		differ(m, "a hole at %ld", (long)hole);
	if (off >= size ? data >= 0 : data >= 0 && (data < off || data >= size))
		differ(m, "data at %ld", (long)data);
	if (data < 0)
		data = size;
	len = data < off		? 0
	      : data - off < PASSED_MAX ? data - off
					: PASSED_MAX;
	len = pvfs_pread(p->fd[A], m->buf[A], (size_t)len, off);
	for (int64_t i = 0; i < len; i++)
		if (m->buf[A][i])
			differ(m, "%ld is passed over", (long)(off + i));
	for (int s = A; s < SIDES; s++)
		pvfs_lseek(p->fd[s], pos[s], SEEK_SET);
}

void op_file(struct model *m)
{
	static void (*const ops[])(struct model *, struct pair *) = {
		op_write, op_write, op_pwrite, op_pwrite, op_read,
		op_read,  op_pread, op_pread,  op_vector, op_vector,
		op_seek,  op_seek,  op_close,  op_fstat,  op_ftruncate,
		op_fattr, op_dup,   op_flags,  op_sync,	  op_mmap,
		op_part,  op_space, op_find,   op_copy,	  op_copy,
	};
	struct pair *p = any_pair(m);
	struct stat st;

	if (!p || chance(m, 10)) {
		op_open(m);
		return;
	}
	/* on PVFS, a descriptor for reading does not keep a removed file alive */
	if ((p->flags & O_ACCMODE) == O_RDONLY &&
	    (pvfs_fstat(p->fd[B], &st) || st.st_nlink == 0)) {
		op_close(m, p);
		return;
	}
	m->at = (int)(p - m->pair);
	ops[roll(m, sizeof(ops) / sizeof(ops[0]))](m, p);
	m->at = -1;
	if (p->used && !pvfs_fstat(p->fd[B], &st) && !S_ISDIR(st.st_mode))
		BOTH(m, pvfs_lseek(p->fd[s], 0, SEEK_CUR));
}
