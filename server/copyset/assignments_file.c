/* SPDX-License-Identifier: BSD-2-Clause */
/* assignments_file.c - see assignments_file.h. */
#include "server/copyset/assignments_file.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/util/stamp.h"

#define MAGIC UINT64_C(0x3173797063736670) /* "pfscpys1" */

struct assignments_head {
	uint64_t check; /* of the bytes that follow */
	uint64_t magic;
	uint32_t n;
	uint32_t zero;
};
_Static_assert(sizeof(struct assignments_head) == 24, "assignments_head");

struct assignments_row {
	uint32_t id, version, losses;
	uint16_t iod[COPYSET_COPIES_MAX];
	uint8_t state[COPYSET_COPIES_MAX];
	uint8_t n;
	uint8_t zero[2];
};
_Static_assert(sizeof(struct assignments_row) == 24, "assignments_row");

struct assignments_image {
	struct assignments_head head;
	struct assignments_row row[];
};

static size_t file_size(uint32_t n)
{
	return sizeof(struct assignments_image) +
	       n * sizeof(struct assignments_row);
}

static uint64_t file_checksum(const struct assignments_image *f, size_t len)
{
	return htole64(XXH64((const uint8_t *)f + sizeof(f->head.check),
			     len - sizeof(f->head.check), MAGIC));
}

/* ---- reading ---- */

static bool row_is_valid(const struct assignments_row *row, uint32_t least)
{
	uint32_t id = le32toh(row->id);

	if (id < least || id >= COPYSET_END || !row->version || !row->n ||
	    row->n > COPYSET_COPIES_MAX)
		return false;
	for (unsigned int i = 0; i < row->n; i++)
		if (row->state[i] >= COPYSET_STATES)
			return false;
	return true;
}

static struct copyset row_decode(const struct assignments_row *row)
{
	struct copyset set = { .id = le32toh(row->id),
			       .version = le32toh(row->version),
			       .losses = le32toh(row->losses),
			       .n = row->n };

	for (uint32_t i = 0; i < set.n; i++)
		set.member[i] = (struct copyset_member){
			.iod = le16toh(row->iod[i]), .state = row->state[i]
		};
	return set;
}

static bool head_is_valid(const struct assignments_image *f, size_t len)
{
	return len >= sizeof(*f) && f->head.check == file_checksum(f, len) &&
	       le64toh(f->head.magic) == MAGIC &&
	       len == file_size(le32toh(f->head.n));
}

static int file_decode(const struct assignments_image *f, size_t len,
		       struct copyset **out, uint32_t *n)
{
	uint32_t least = COPYSET_FIRST, count;
	struct copyset *set;

	if (!head_is_valid(f, len))
		return -EBADMSG;
	count = le32toh(f->head.n);
	set = calloc(count ? count : 1, sizeof(*set));
	if (!set)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		if (!row_is_valid(&f->row[i], least)) {
			free(set);
			return -EBADMSG;
		}
		set[i] = row_decode(&f->row[i]);
		least = set[i].id + 1;
	}
	*out = set;
	*n = count;
	return 0;
}

/* Sets *len to the length of the file.  -EBADMSG: it has more than max bytes. */
static int read_file(int fd, size_t max, void *buf, size_t *len)
{
	size_t n = 0;
	ssize_t part;

	do {
		part = read(fd, (uint8_t *)buf + n, max + 1 - n);
		if (part > 0)
			n += (size_t)part;
	} while ((part > 0 && n <= max) || (part < 0 && errno == EINTR));
	if (part < 0)
		return -errno;
	*len = n;
	return n > max ? -EBADMSG : 0;
}

int assignments_read(int dirfd, uint32_t max, struct copyset **set, uint32_t *n)
{
	int rc, fd = openat(dirfd, ASSIGNMENTS_FILE, O_RDONLY | O_CLOEXEC);
	struct assignments_image *f;
	size_t len;

	if (fd < 0 && errno == ENOENT) {
		*set = NULL;
		*n = 0;
		return 0;
	}
	if (fd < 0)
		return -errno;
	f = malloc(file_size(max) + 1);
	rc = f ? read_file(fd, file_size(max), f, &len) : -ENOMEM;
	if (!rc)
		rc = file_decode(f, len, set, n);
	free(f);
	close(fd);
	return rc;
}

/* ---- writing ---- */

static void row_encode(const struct copyset *set, struct assignments_row *row)
{
	row->id = htole32(set->id);
	row->version = htole32(set->version);
	row->losses = htole32(set->losses);
	row->n = (uint8_t)set->n;
	for (uint32_t i = 0; i < set->n; i++) {
		row->iod[i] = htole16((uint16_t)set->member[i].iod);
		row->state[i] = (uint8_t)set->member[i].state;
	}
}

int assignments_write(int dirfd, const struct copyset *set, uint32_t n)
{
	size_t len = file_size(n);
	struct assignments_image *f = calloc(1, len);
	int rc;

	if (!f)
		return -ENOMEM;
	f->head.magic = htole64(MAGIC);
	f->head.n = htole32(n);
	for (uint32_t i = 0; i < n; i++)
		row_encode(&set[i], &f->row[i]);
	f->head.check = file_checksum(f, len);
	rc = stamp_replace(dirfd, ASSIGNMENTS_FILE, (const char *)f, len);
	free(f);
	return rc;
}
