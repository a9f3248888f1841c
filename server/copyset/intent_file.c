/* SPDX-License-Identifier: BSD-2-Clause */
/* intent_file.c - see intent_file.h. */
#include "server/copyset/intent_file.h"

#include <endian.h>
#include <string.h>

#include "common/util/crc32c.h"

#define FILE_NAME "intents"
#define NEW_NAME "intents.new"
#define HEAD_SIZE 512u
#define HEAD_MAGIC UINT64_C(0x31746e4973667670) /* "pvfsInt1" */
#define CHUNK 128u /* records per access */

struct head_bytes {
	uint64_t magic, store, epoch, horizon;
	uint32_t crc; /* of the fields above */
	uint8_t zero[HEAD_SIZE - 36];
};

struct record_bytes {
	uint64_t handle, block, bits;
	uint32_t copyset;
	uint32_t crc; /* of the epoch, the place, and the fields above */
};

_Static_assert(sizeof(struct head_bytes) == HEAD_SIZE, "format");
_Static_assert(sizeof(struct record_bytes) == 32, "format");

static uint32_t head_crc(const struct head_bytes *head)
{
	return htole32(crc32c(0, head, offsetof(struct head_bytes, crc)));
}

static uint32_t record_crc(const struct record_bytes *record, uint64_t epoch,
			   uint64_t place)
{
	const uint64_t where[2] = { htole64(epoch), htole64(place) };
	uint32_t crc = crc32c(0, where, sizeof(where));

	return htole32(crc32c(crc, record, offsetof(struct record_bytes, crc)));
}

static uint64_t record_offset(uint64_t place)
{
	return HEAD_SIZE + place * sizeof(struct record_bytes);
}

/* ---- reading ---- */

static int load_head(const struct disk_folder *disk, int fd,
		     struct intent_head *head)
{
	static const uint8_t zero[sizeof(((struct head_bytes *)0)->zero)];
	struct head_bytes bytes;
	int rc = disk_folder_read(disk, fd, &bytes, sizeof(bytes), 0);

	if (rc)
		return rc;
	if (le64toh(bytes.magic) != HEAD_MAGIC ||
	    bytes.crc != head_crc(&bytes) ||
	    memcmp(bytes.zero, zero, sizeof(zero)))
		return -EIO;
	*head = (struct intent_head){ le64toh(bytes.store),
				      le64toh(bytes.epoch),
				      le64toh(bytes.horizon) };
	return 0;
}

/* 0: *record is set.  -ENODATA: it was never synced. */
static int parse_record(const struct record_bytes *bytes, uint64_t epoch,
			uint64_t place, struct intent_record *record)
{
	static const struct record_bytes zero;

	if (!memcmp(bytes, &zero, sizeof(zero)))
		return -ENODATA;
	if (bytes->crc != record_crc(bytes, epoch, place) || !bytes->bits)
		return -EIO;
	*record = (struct intent_record){ le64toh(bytes->handle),
					  le32toh(bytes->copyset),
					  le64toh(bytes->block),
					  le64toh(bytes->bits) };
	return 0;
}

static int
load_records(const struct disk_folder *disk, int fd, uint64_t epoch, uint64_t n,
	     int (*each)(void *ctx, const struct intent_record *record),
	     void *ctx)
{
	struct record_bytes bytes[CHUNK];
	struct intent_record record;
	int rc = 0;

	for (uint64_t place = 0; place < n && !rc; place++) {
		size_t some = n - place < CHUNK ? n - place : CHUNK;

		if (place % CHUNK == 0)
			rc = disk_folder_read(disk, fd, bytes,
					      some * sizeof(bytes[0]),
					      record_offset(place));
		rc = rc ? rc
			: parse_record(&bytes[place % CHUNK], epoch, place,
				       &record);
		if (!rc)
			rc = each(ctx, &record);
		else if (rc == -ENODATA)
			rc = 0;
	}
	return rc;
}

int intent_file_load(const struct disk_folder *disk, struct intent_head *head,
		     int (*each)(void *ctx, const struct intent_record *record),
		     void *ctx)
{
	int fd = disk_folder_open_file(disk, FILE_NAME, false);
	struct intent_head found;
	int64_t size;
	int rc;

	if (fd < 0)
		return fd;
	size = disk_folder_size(disk, fd);
	if (size < 0)
		rc = (int)size;
	else if (size < HEAD_SIZE || size % (int)sizeof(struct record_bytes))
		rc = -EIO;
	else
		rc = load_head(disk, fd, &found);
	if (!rc)
		rc = load_records(disk, fd, found.epoch,
				  ((uint64_t)size - HEAD_SIZE) /
					  sizeof(struct record_bytes),
				  each, ctx);
	disk_folder_close_file(disk, fd);
	if (!rc)
		*head = found;
	return rc;
}

/* ---- writing ---- */

int intent_file_make(const struct disk_folder *disk,
		     const struct intent_head *head, struct intent_file *file)
{
	struct head_bytes bytes = { .magic = htole64(HEAD_MAGIC),
				    .store = htole64(head->store),
				    .epoch = htole64(head->epoch),
				    .horizon = htole64(head->horizon) };
	int fd = disk_folder_open_file(disk, NEW_NAME, true);
	int rc;

	if (fd < 0)
		return fd;
	bytes.crc = head_crc(&bytes);
	rc = disk_folder_write(disk, fd, &bytes, sizeof(bytes), 0);
	if (rc) {
		disk_folder_close_file(disk, fd);
		return rc;
	}
	*file = (struct intent_file){ *disk, fd, head->epoch, 0 };
	return 0;
}

static void seal_record(const struct intent_record *record, uint64_t epoch,
			uint64_t place, struct record_bytes *bytes)
{
	*bytes = (struct record_bytes){
		.handle = htole64(record->handle),
		.block = htole64(record->block),
		.bits = htole64(record->bits),
		.copyset = htole32((uint32_t)record->copyset),
	};
	bytes->crc = record_crc(bytes, epoch, place);
}

int intent_file_append(struct intent_file *file,
		       const struct intent_record *records, size_t n)
{
	struct record_bytes bytes[CHUNK];
	int rc = 0;

	for (size_t at = 0; at < n && !rc; at += CHUNK) {
		size_t some = n - at < CHUNK ? n - at : CHUNK;

		for (size_t i = 0; i < some; i++)
			seal_record(&records[at + i], file->epoch,
				    file->n + at + i, &bytes[i]);
		rc = disk_folder_write(&file->disk, file->fd, bytes,
				       some * sizeof(bytes[0]),
				       record_offset(file->n + at));
	}
	if (!rc)
		file->n += n;
	return rc;
}

int intent_file_sync(struct intent_file *file)
{
	return disk_folder_sync(&file->disk, file->fd);
}

int intent_file_install(struct intent_file *file)
{
	return disk_folder_install(&file->disk, NEW_NAME, FILE_NAME);
}

void intent_file_close(struct intent_file *file)
{
	disk_folder_close_file(&file->disk, file->fd);
}
