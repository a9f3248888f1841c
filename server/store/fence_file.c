/* SPDX-License-Identifier: BSD-2-Clause */
/* fence_file.c - writing, checking and making the file of the fences. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "server/store/fence_file.h"

#define FILE_NAME "fences"
#define NEW_NAME "fences.new"
/* of earlier releases: one line of hex digits for each session */
#define OLD_NAME "fenced"
#define OLD_LINE 17u
#define MAGIC 0x31636e6566737670u /* "pvsfenc1" */

struct disk_head {
	uint64_t check; /* of the bytes that follow */
	uint64_t magic;
	uint64_t seq, count, term, below, nexcept;
	uint64_t except[FENCE_EXCEPT_MAX];
	uint64_t ids[FENCE_PAGE_IDS];
	uint64_t claimer; /* 0 in heads of earlier releases */
	uint64_t zero[505];
};
_Static_assert(sizeof(struct disk_head) == 16384, "disk_head");

struct disk_page {
	uint64_t check;
	uint64_t ids[FENCE_PAGE_IDS];
};
_Static_assert(sizeof(struct disk_page) == 4096, "disk_page");

#define PAGE_AT(page)                                                          \
	((off_t)(2 * sizeof(struct disk_head) +                                \
		 ((page) % FENCE_PAGES) * sizeof(struct disk_page)))
#define FILE_LEN (PAGE_AT(FENCE_PAGES - 1) + (off_t)sizeof(struct disk_page))

static uint64_t block_checksum(const void *block, size_t len)
{
	return htole64(XXH64((const uint8_t *)block + 8, len - 8, MAGIC));
}

static int write_all(int fd, const void *buf, size_t len, off_t at)
{
	const uint8_t *p = buf;
	ssize_t n;

	while (len) {
		n = pwrite(fd, p, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_all(int fd, void *buf, size_t len, off_t at)
{
	uint8_t *p = buf;
	ssize_t n;

	while (len) {
		n = pread(fd, p, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_sync(int fd, const void *buf, size_t len, off_t at)
{
	int rc = write_all(fd, buf, len, at);

	return rc ? rc : fdatasync(fd) ? -errno : 0;
}

static void copy_ids(uint64_t *to, const uint64_t *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		to[i] = htole64(from[i]); /* the same in both directions */
}

int fence_file_page(int fd, uint64_t page, const uint64_t *ids)
{
	struct disk_page d;

	copy_ids(d.ids, ids, FENCE_PAGE_IDS);
	d.check = block_checksum(&d, sizeof(d));
	return write_sync(fd, &d, sizeof(d), PAGE_AT(page));
}

static void encode_head(const struct fence_head *head, struct disk_head *d)
{
	memset(d, 0, sizeof(*d));
	d->magic = htole64(MAGIC);
	d->seq = htole64(head->seq);
	d->count = htole64(head->count);
	d->term = htole64(head->term);
	d->claimer = htole64(head->claimer);
	d->below = htole64(head->below);
	d->nexcept = htole64(head->nexcept);
	copy_ids(d->except, head->except, head->nexcept);
	copy_ids(d->ids, head->ids, head->count % FENCE_PAGE_IDS);
	d->check = block_checksum(d, sizeof(*d));
}

static bool decode_head(const struct disk_head *d, struct fence_head *head)
{
	if (d->check != block_checksum(d, sizeof(*d)) ||
	    le64toh(d->magic) != MAGIC ||
	    le64toh(d->nexcept) > FENCE_EXCEPT_MAX)
		return false;
	*head = (struct fence_head){ .seq = le64toh(d->seq),
				     .count = le64toh(d->count),
				     .term = le64toh(d->term),
				     .claimer = le64toh(d->claimer),
				     .below = le64toh(d->below),
				     .nexcept = le64toh(d->nexcept) };
	copy_ids(head->except, d->except, head->nexcept);
	copy_ids(head->ids, d->ids, head->count % FENCE_PAGE_IDS);
	return true;
}

/* Overwrites the complete head last. */
int fence_file_head(int fd, struct fence_head *head)
{
	struct disk_head *d = malloc(sizeof(*d));
	int rc = 0;

	if (!d)
		return -ENOMEM;
	head->seq++;
	encode_head(head, d);
	for (unsigned int n = 0; !rc && n < 2; n++) {
		unsigned int place = !head->whole;

		rc = write_sync(fd, d, sizeof(*d), place * (off_t)sizeof(*d));
		if (!rc)
			head->whole = place;
	}
	free(d);
	return rc;
}

/* ---- reading ---- */

/* *same: both heads are valid and have the same contents.  Earlier releases never write that. */
static int read_heads(int fd, struct fence_head *head, bool *same,
		      const struct log *log)
{
	struct disk_head *d = malloc(sizeof(*d));
	struct fence_head *one = malloc(sizeof(*one));
	int rc = d && one ? 0 : -ENOMEM, failed = 0;
	unsigned int whole = 0;

	*same = true;
	for (unsigned int i = 0; !rc && i < 2; i++) {
		int error = read_all(fd, d, sizeof(*d), i * (off_t)sizeof(*d));

		failed = error ? error : failed;
		if (error || !decode_head(d, one))
			continue;
		one->whole = i;
		*same &= !whole || one->seq == head->seq;
		if (!whole || one->seq > head->seq)
			*head = *one;
		whole++;
	}
	*same &= whole == 2;
	if (!rc && whole == 1)
		log_warn(log, "one of the two heads of the file " FILE_NAME
			      " of the storage is damaged, or was not written "
			      "to the end: the iod uses the other one");
	free(one);
	free(d);
	if (!rc && !whole)
		rc = failed ? failed : -EBADMSG;
	return rc;
}

/* Leaves out the oldest page: it may be partly overwritten by the page that was to follow. */
static int read_pages(int fd, const struct fence_head *head, uint64_t *ids)
{
	uint64_t end = head->count / FENCE_PAGE_IDS;
	uint64_t page = end < FENCE_PAGES ? 0 : end - (FENCE_PAGES - 1);
	struct disk_page d;
	int rc = 0;

	for (; !rc && page < end; page++) {
		rc = read_all(fd, &d, sizeof(d), PAGE_AT(page));
		if (!rc && d.check != block_checksum(&d, sizeof(d)))
			rc = -EBADMSG;
		copy_ids(ids + page % FENCE_PAGES * FENCE_PAGE_IDS, d.ids,
			 FENCE_PAGE_IDS);
	}
	return rc;
}

/* ---- making it ---- */

static int add_old(int fd, struct fence_head *head, uint64_t id)
{
	int rc = 0;

	head->ids[head->count % FENCE_PAGE_IDS] = id;
	if ((head->count + 1) % FENCE_PAGE_IDS == 0)
		rc = fence_file_page(fd, head->count / FENCE_PAGE_IDS,
				     head->ids);
	head->count++;
	return rc;
}

static int convert_lines(FILE *file, int fd, struct fence_head *head,
			 const struct log *log)
{
	char line[OLD_LINE + 2], *end;
	unsigned int nr = 0;
	int rc = 0;

	while (!rc && fgets(line, sizeof(line), file)) {
		nr++;
		rc = add_old(fd, head, strtoull(line, &end, 16));
		if (end == line + OLD_LINE - 1 && *end == '\n')
			continue;
		log_error(log,
			  OLD_NAME ":%u: not a session id; restore the file or "
				   "remove it (fenced clients may then return)",
			  nr);
		rc = -EINVAL;
	}
	return rc ? rc : ferror(file) ? -EIO : 0;
}

/* Takes in the file of an earlier release. */
static int convert_old_file(int dirfd, int fd, struct fence_head *head,
			    const struct log *log)
{
	int old = openat(dirfd, OLD_NAME, O_RDONLY | O_CLOEXEC), rc;
	FILE *file;

	if (old < 0)
		return errno == ENOENT ? 0 : -errno;
	file = fdopen(old, "r");
	if (!file) {
		rc = -errno;
		close(old);
		return rc;
	}
	rc = convert_lines(file, fd, head, log);
	fclose(file);
	return rc;
}

/* Writes zeros: a hole or delayed allocation would not reserve the space. */
static int fill_with_zeros(int fd)
{
	void *zeros = calloc(1, FILE_LEN);
	int rc = zeros ? write_all(fd, zeros, FILE_LEN, 0) : -ENOMEM;

	free(zeros);
	return rc;
}

static int write_new_file(int dirfd, int fd, const struct log *log)
{
	struct fence_head *head = calloc(1, sizeof(*head));
	int rc = head ? fill_with_zeros(fd) : -ENOMEM;

	if (!rc)
		rc = convert_old_file(dirfd, fd, head, log);
	if (!rc)
		rc = fence_file_head(fd, head);
	if (!rc && fsync(fd))
		rc = -errno;
	if (!rc && renameat(dirfd, NEW_NAME, dirfd, FILE_NAME))
		rc = -errno;
	free(head);
	return rc ? rc : fsync(dirfd) ? -errno : 0;
}

static int create_file(int dirfd, const struct log *log)
{
	int fd, rc;

	fd = openat(dirfd, NEW_NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return -errno;
	rc = write_new_file(dirfd, fd, log);
	if (!rc) {
		unlinkat(dirfd, OLD_NAME, 0);
		return fd;
	}
	close(fd);
	unlinkat(dirfd, NEW_NAME, 0);
	return rc;
}

/* A file restored from a backup may have holes. */
static int allocate_space(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size != FILE_LEN)
		return -EBADMSG;
	if (!fallocate(fd, 0, 0, FILE_LEN) || errno == EOPNOTSUPP)
		return 0;
	return -errno;
}

static void log_open_error(const struct log *log, int rc)
{
	if (rc == -EBADMSG)
		log_error(log,
			  "the file " FILE_NAME
			  " of the storage is damaged: restore it from a "
			  "backup, or remove it (fenced clients, and managers "
			  "that were replaced, may then return)");
	else if (rc == -ENOSPC || rc == -EDQUOT)
		log_error(log,
			  "no space for the file " FILE_NAME
			  " of the storage, %u KiB, which has to be set aside "
			  "(%s): free some and start again",
			  (unsigned int)(FILE_LEN / 1024), strerror(-rc));
	else if (rc != -EINVAL)
		log_error(log, "the file " FILE_NAME " of the storage: %s",
			  strerror(-rc));
}

int fence_file_open(int dirfd, struct fence_head *head, uint64_t *ids,
		    const struct log *log)
{
	int fd = openat(dirfd, FILE_NAME, O_RDWR | O_CLOEXEC), rc;
	bool same;

	if (fd < 0)
		fd = errno == ENOENT ? create_file(dirfd, log) : -errno;
	rc = fd < 0 ? fd : allocate_space(fd);
	if (!rc)
		rc = read_heads(fd, head, &same, log);
	if (!rc)
		rc = read_pages(fd, head, ids);
	if (!rc && !same)
		rc = fence_file_head(fd, head);
	if (!rc)
		return fd;
	log_open_error(log, rc);
	if (fd >= 0)
		close(fd);
	return rc;
}
