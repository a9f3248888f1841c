/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash.c - a file's checksum: over its units with bytes other than zero, each after its
 * offset.  So a hole and zeros are the same, and holes need not be read.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "client/tools/files/copy/copy.h"
#include <pvfs.h>
#include "client/tools/job/stage/stage.h"

#define BLOCK (4u << 20)
#define UNIT 65536u

struct hashing {
	int fd;
	uint64_t size;
	char *buf;
	XXH3_state_t *state;
};

/* Reads len bytes.  0 or -errno: -EIO: the file became shorter. */
static int read_range(struct hashing *h, uint64_t off, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pvfs_pread(h->fd, h->buf + done, len - done,
				       (int64_t)(off + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

static void hash_units(struct hashing *h, uint64_t off, size_t len)
{
	for (size_t at = 0; at < len; at += UNIT) {
		const char *unit = h->buf + at;
		size_t n = len - at < UNIT ? len - at : UNIT;
		uint64_t where = htole64(off + at);

		if (!unit[0] && !memcmp(unit, unit + 1, n - 1))
			continue;
		XXH3_64bits_update(h->state, &where, sizeof(where));
		XXH3_64bits_update(h->state, unit, n);
	}
}

/* off is the beginning of a unit. */
static int hash_data(struct hashing *h, uint64_t off, uint64_t end)
{
	while (off < end) {
		size_t len = end - off < BLOCK ? (size_t)(end - off) : BLOCK;
		int rc = read_range(h, off, len);

		if (rc)
			return rc;
		hash_units(h, off, len);
		off += len;
	}
	return 0;
}

static int hash_extents(struct hashing *h)
{
	struct copy_extent data;
	uint64_t off = 0;
	int rc = 0;

	while (!rc && off < h->size) {
		rc = copy_find_data(h->fd, off, h->size, &data);
		if (rc || data.from >= h->size)
			break;
		off = (data.end + UNIT - 1) / UNIT * UNIT;
		if (off > h->size)
			off = h->size;
		rc = hash_data(h, data.from / UNIT * UNIT, off);
	}
	return rc;
}

int stage_hash(const char *path, uint64_t *hash)
{
	struct hashing h = { .fd = pvfs_open(path, O_RDONLY | O_CLOEXEC |
							   O_NOFOLLOW |
							   O_NONBLOCK) };
	struct stat st;
	int rc = -ENOMEM;

	if (h.fd < 0)
		return -errno;
	h.state = XXH3_createState();
	h.buf = malloc(BLOCK);
	if (h.state && h.buf) {
		XXH3_64bits_reset(h.state);
		rc = pvfs_fstat(h.fd, &st) ? -errno : 0;
		h.size = rc ? 0 : (uint64_t)st.st_size;
		rc = rc ? rc : hash_extents(&h);
	}
	if (!rc)
		*hash = XXH3_64bits_digest(h.state);
	free(h.buf);
	XXH3_freeState(h.state);
	pvfs_close(h.fd);
	return rc;
}
