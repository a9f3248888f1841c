/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_data.c - the bytes of one piece.  Holes stay holes: those of the source, and
 * blocks of zeros that are read here.  Between PVFS files the servers copy.  With
 * --verify the piece is read back from the target and compared by checksum (XXH3).
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "client/tools/files/copy/copy.h"

/* ---- where a source has data ---- */

/* Asking all iods costs as much as reading this many bytes. */
#define ASK_LEAST (1u << 20)

/* Whether the error of SEEK_DATA means that this file cannot be searched for holes. */
static bool cannot_tell(int err)
{
	return err == EINVAL || err == ESPIPE || err == EOPNOTSUPP ||
	       err == ENOSYS;
}

/*
 * Finds the first data or hole in [off, end), else end.  If the file cannot tell, *at
 * is otherwise.
 */
static int seek_to(int fd, int whence, uint64_t off, uint64_t end,
		   uint64_t otherwise, uint64_t *at)
{
	int64_t found = pvfs_lseek(fd, (int64_t)off, whence);

	if (found >= 0) {
		*at = (uint64_t)found < end ? (uint64_t)found : end;
		return 0;
	}
	*at = errno == ENXIO ? end : otherwise;
	return errno == ENXIO || cannot_tell(errno) ? 0 : -errno;
}

int copy_find_data(int fd, uint64_t off, uint64_t end, struct copy_extent *data)
{
	struct copy_extent e = { off, end };
	int rc = 0;

	if (!pvfs_is_pvfs_fd(fd) || end - off >= ASK_LEAST) {
		rc = seek_to(fd, SEEK_DATA, off, end, off, &e.from);
		if (!rc && e.from < end)
			rc = seek_to(fd, SEEK_HOLE, e.from, end, end, &e.end);
	}
	if (!rc)
		*data = e;
	return rc;
}

int copy_next_data(struct copy_file *f, uint64_t off, uint64_t end,
		   struct copy_extent *data)
{
	int rc = copy_find_data(f->in, off, end, data);

	if (!rc)
		return 0;
	errno = -rc;
	copy_failed(f->copy, f->from);
	return -1;
}

/* ---- the data of a piece ---- */

#define HOLE_UNIT 65536u

/* A device has no size. */
int copy_set_size(struct copy_file *f, uint64_t size)
{
	struct stat st;

	if (!pvfs_ftruncate(f->out, (int64_t)size))
		return 0;
	if (errno == EINVAL && !pvfs_fstat(f->out, &st) && !S_ISREG(st.st_mode))
		return 0;
	copy_failed(f->copy, f->to);
	return -1;
}

static bool all_zero(const char *buf, size_t len)
{
	return len == 0 || (buf[0] == 0 && !memcmp(buf, buf + 1, len - 1));
}

static void note_written(struct copy_file *f, uint64_t end)
{
	uint64_t size = atomic_load(&f->size);

	while (end > size &&
	       !atomic_compare_exchange_weak(&f->size, &size, end))
		;
}

static int write_all(struct copy_file *f, const char *buf, size_t len,
		     uint64_t off)
{
	while (len) {
		ssize_t n = pvfs_pwrite(f->out, buf, len, (int64_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		buf += n;
		off += (uint64_t)n;
		len -= (size_t)n;
		note_written(f, off);
	}
	return 0;
}

/*
 * Writes runs of units that contain data.  The file was made empty, and gets its size
 * at the end, so ranges that are not written read as zeros.
 */
static int write_data(struct copy_file *f, const char *buf, size_t len,
		      uint64_t off)
{
	size_t start = 0, pos = 0;

	while (pos < len) {
		size_t unit = len - pos < HOLE_UNIT ? len - pos : HOLE_UNIT;

		if (!all_zero(buf + pos, unit)) {
			pos += unit;
			continue;
		}
		if (write_all(f, buf + start, pos - start, off + start))
			return -1;
		pos += unit;
		start = pos;
	}
	return write_all(f, buf + start, pos - start, off + start);
}

/*
 * Reads up to len bytes; less only at the end of the file.  Large reads of files in
 * /proc/sys fail with ENOMEM; smaller ones return the whole file.
 */
static ssize_t read_all(const struct copy *c, int fd, char *buf, size_t len,
			uint64_t off)
{
	size_t done = 0, most = len;

	while (done < len) {
		size_t want = len - done < most ? len - done : most;
		ssize_t n;

		copy_wait_begin();
		n = pvfs_pread(fd, buf + done, want, (int64_t)(off + done));
		copy_wait_end();
		if (n < 0 && errno == EINTR && !atomic_load(&c->interrupted))
			continue;
		if (n < 0 && errno == ENOMEM && most > HOLE_UNIT) {
			most = HOLE_UNIT;
			continue;
		}
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static int verify_block(struct copy_file *f, const char *src, size_t len,
			uint64_t off, char *back)
{
	ssize_t n = read_all(f->copy, f->out, back, len, off);

	if (n < 0) {
		copy_failed(f->copy, f->to);
		return -1;
	}
	/* after its end are zeros that were not written */
	memset(back + n, 0, len - (size_t)n);
	if (XXH3_64bits(src, len) != XXH3_64bits(back, len)) {
		tool_say(f->copy->tool,
			 "%s: differs from %s in bytes %llu to %llu", f->to,
			 f->from, (unsigned long long)off,
			 (unsigned long long)(off + len));
		atomic_store(&f->copy->failed, true);
		return -1;
	}
	atomic_fetch_add(&f->copy->verified, len);
	return 0;
}

static int verify_zeros(struct copy_file *f, const struct copy_extent *e,
			char *buf)
{
	uint64_t block = f->copy->opt.block;

	for (uint64_t off = e->from; off < e->end; off += block) {
		uint64_t left = e->end - off;

		if (verify_block(f, buf, left < block ? left : block, off,
				 buf + block))
			return -1;
	}
	return 0;
}

/* A hole of the source must read back as zeros; a hole of the target does. */
static int verify_hole(struct copy_file *f, uint64_t off, uint64_t end,
		       char *buf)
{
	struct copy_extent data;

	memset(buf, 0, f->copy->opt.block);
	while (off < end) {
		int rc = copy_find_data(f->out, off, end, &data);

		if (rc) {
			errno = -rc;
			copy_failed(f->copy, f->to);
			return -1;
		}
		if (verify_zeros(f, &data, buf))
			return -1;
		off = data.end;
	}
	return 0;
}

/* Writes the bytes that were read, and reads them back to verify. */
static int put_block(struct copy_file *f, uint64_t off, size_t len, char *buf)
{
	if (write_data(f, buf, len, off)) {
		copy_failed(f->copy, f->to);
		return -1;
	}
	atomic_fetch_add(&f->copy->bytes, len);
	if (!f->copy->opt.verify)
		return 0;
	return verify_block(f, buf, len, off, buf + f->copy->opt.block);
}

/* The source may shrink meanwhile, and its size may be wrong, as in /sys. */
static void note_source_end(struct copy_file *f, uint64_t off)
{
	uint64_t end = atomic_load(&f->end);

	while (off < end && !atomic_compare_exchange_weak(&f->end, &end, off))
		;
}

/*
 * Reads *len bytes of the source at off.  If the source ends earlier, sets *len to the bytes read.
 */
static int get_block(struct copy_file *f, uint64_t off, size_t *len, char *buf)
{
	ssize_t n = read_all(f->copy, f->in, buf, *len, off);

	if (n < 0) {
		copy_failed(f->copy, f->from);
		return -1;
	}
	if ((size_t)n < *len)
		note_source_end(f, off + (uint64_t)n);
	*len = (size_t)n;
	return 0;
}

static int copy_block(struct copy_file *f, uint64_t off, size_t *len, char *buf)
{
	return get_block(f, off, len, buf) ? -1 : put_block(f, off, *len, buf);
}

static int copy_by_servers(struct copy_file *f, uint64_t off, size_t len)
{
	int64_t in = (int64_t)off, out = in;
	ssize_t n;

	while (len) {
		n = pvfs_copy_file_range(f->in, &in, f->out, &out, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			copy_failed(f->copy, f->to);
			return -1;
		}
		if (!n) {
			note_source_end(f, (uint64_t)in);
			return 0;
		}
		atomic_fetch_add(&f->copy->bytes, (uint64_t)n);
		note_written(f, (uint64_t)out);
		len -= (size_t)n;
	}
	return 0;
}

static int pass_block_by_servers(struct copy_file *f, uint64_t off, size_t *len,
				 char *buf)
{
	if (copy_by_servers(f, off, *len))
		return -1;
	if (!f->copy->opt.verify)
		return 0;
	return get_block(f, off, len, buf)
		       ? -1
		       : verify_block(f, buf, *len, off,
				      buf + f->copy->opt.block);
}

static int skip_hole(struct copy_file *f, uint64_t off, uint64_t to, char *buf)
{
	atomic_fetch_add(&f->copy->bytes, to - off);
	return f->copy->opt.verify ? verify_hole(f, off, to, buf) : 0;
}

/* Copies all blocks of the extent. */
static int copy_extent(struct copy_file *f, const struct copy_extent *e,
		       char *buf)
{
	uint64_t block = f->copy->opt.block;
	bool both = pvfs_is_pvfs_fd(f->in) && pvfs_is_pvfs_fd(f->out);
	uint64_t off = e->from;
	int rc = 0;

	while (!rc && off < e->end && off < atomic_load(&f->end)) {
		size_t n = e->end - off < block ? e->end - off : block;

		if (copy_over(f->copy))
			return -1;
		rc = both ? pass_block_by_servers(f, off, &n, buf)
			  : copy_block(f, off, &n, buf);
		off += n;
	}
	return rc;
}

int copy_piece(struct copy_file *f, uint64_t off, uint64_t len, char *buf)
{
	uint64_t end = off + len;
	struct copy_extent data;

	while (off < end && off < atomic_load(&f->end)) {
		if (copy_over(f->copy) || copy_next_data(f, off, end, &data))
			return -1;
		if (data.from > off && skip_hole(f, off, data.from, buf))
			return -1;
		if (copy_extent(f, &data, buf))
			return -1;
		off = data.end;
	}
	return 0;
}

/* Copies until a read returns nothing. */
static int copy_rest(struct copy_file *f, uint64_t off, char *buf)
{
	size_t len;

	while (atomic_load(&f->end) == UINT64_MAX) {
		if (copy_over(f->copy))
			return -1;
		len = f->copy->opt.block;
		if (copy_block(f, off, &len, buf))
			return -1;
		off += len;
		atomic_fetch_add(&f->copy->bytes_found, len);
	}
	return 0;
}

static int verify_size(struct copy_file *f, uint64_t size)
{
	struct stat st;

	if (pvfs_fstat(f->out, &st)) {
		copy_failed(f->copy, f->to);
		return -1;
	}
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size == size)
		return 0;
	tool_say(f->copy->tool, "%s: has %llu bytes, and %s has %llu", f->to,
		 (unsigned long long)st.st_size, f->from,
		 (unsigned long long)size);
	atomic_store(&f->copy->failed, true);
	return -1;
}

/* The source's size says where holes are, but not where the file ends. */
int copy_tail(struct copy_file *f, uint64_t off, char *buf)
{
	uint64_t size = (uint64_t)f->st.st_size, end;

	if (size < off)
		size = off;
	if (copy_piece(f, off, size - off, buf) || copy_rest(f, size, buf))
		return -1;
	end = atomic_load(&f->end);
	if (atomic_load(&f->size) != end && copy_set_size(f, end))
		return -1;
	return f->copy->opt.verify ? verify_size(f, end) : 0;
}
