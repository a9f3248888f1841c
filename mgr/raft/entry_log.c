/* SPDX-License-Identifier: BSD-2-Clause */
/* entry_log.c - writing the log; see entry_log.h. */
#include "mgr/raft/entry_log_int.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/crc32c.h"

/* ---- segments ---- */

static struct log_segment *last_segment(const struct entry_log *el)
{
	return &el->segments[el->n - 1];
}

int entry_log_prepare(struct entry_log *el)
{
	int fd;

	if (el->spare >= 0)
		return 0;
	if (entry_log_size(el) + el->segment_size > el->limit)
		return -ENOSPC;
	fd = segment_make(el, last_segment(el)->number + 1);
	if (fd < 0)
		return fd;
	el->spare = fd;
	return 0;
}

static int next_segment(struct entry_log *el)
{
	int rc = entry_log_prepare(el);

	rc = rc ? rc : segments_add(el, last_segment(el)->number + 1);
	if (rc)
		return rc;
	disk_folder_close_file(&el->disk, el->fd);
	el->fd = el->spare;
	el->spare = -1;
	el->pos = 0;
	return 0;
}

uint64_t entry_log_size(const struct entry_log *el)
{
	return (el->n + (el->spare >= 0 ? 1 : 0)) * (uint64_t)el->segment_size;
}

uint64_t entry_log_room(const struct entry_log *el)
{
	uint32_t here = el->segment_size - el->pos;

	return el->spare >= 0 ? el->segment_size : here;
}

uint64_t entry_log_space(size_t len)
{
	return batch_span(log_record_size((uint32_t)len));
}

/* ---- batches ---- */

/* Writes len bytes of records as one batch at el->pos, where they fit. */
static int write_batch(struct entry_log *el, size_t len)
{
	struct batch_head head = { .magic = htole64(BATCH_MAGIC),
				   .batch = htole64(el->batch + 1),
				   .next = htole64(el->next),
				   .len = htole32((uint32_t)len) };
	struct log_place place = { .segment = last_segment(el)->number,
				   .batch = el->batch + 1,
				   .sector = el->pos / LOG_SECTOR };
	size_t all = sizeof(head) + len;
	int rc;

	head.crc = htole32(batch_head_crc(&head));
	memcpy(el->records, &head, sizeof(head));
	log_sectors_seal(&place, el->records, all, el->sectors);
	rc = disk_folder_write(&el->disk, el->fd, el->sectors,
			       (size_t)log_sectors(all) * LOG_SECTOR, el->pos);
	rc = rc ? rc : disk_folder_sync(&el->disk, el->fd);
	if (rc)
		return rc;
	el->batch++;
	el->pos += batch_span(len);
	return log_end_write(el);
}

static void note_record(struct entry_log *el, const struct log_record *record)
{
	struct log_segment *segment = last_segment(el);

	if (record->kind == LOG_TRUNCATE)
		el->next = record->index;
	else if (record->kind == LOG_RESET)
		el->next = record->index + 1;
	else if (record->kind == LOG_ENTRY) {
		el->next = record->index + 1;
		if (record->index > segment->high)
			segment->high = record->index;
	}
}

/* Encodes records into el->records as long as they fit.  Returns their number. */
static size_t fill_batch(struct entry_log *el, const struct log_record *records,
			 size_t n, size_t *len)
{
	size_t room = batch_room(el->segment_size - el->pos);
	size_t i;

	*len = 0;
	for (i = 0; i < n; i++) {
		size_t size = log_record_size(records[i].len);

		if (*len + size > room)
			break;
		log_record_encode(&records[i],
				  el->records + sizeof(struct batch_head) +
					  *len);
		*len += size;
	}
	return i;
}

static int check_sizes(const struct entry_log *el,
		       const struct log_record *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (records[i].len > LOG_ENTRY_MAX ||
		    log_record_size(records[i].len) >
			    batch_room(el->segment_size))
			return -EMSGSIZE;
	return 0;
}

static int write_records(struct entry_log *el, const struct log_record *records,
			 size_t n)
{
	while (n) {
		size_t len, done = fill_batch(el, records, n, &len);
		int rc = done ? write_batch(el, len) : next_segment(el);

		if (rc)
			return rc;
		for (size_t i = 0; i < done; i++)
			note_record(el, &records[i]);
		records += done;
		n -= done;
	}
	return 0;
}

int entry_log_write(struct entry_log *el, const struct log_record *records,
		    size_t n)
{
	int rc = check_sizes(el, records, n);

	rc = rc ? rc : write_records(el, records, n);
	if (rc)
		log_error(el->log, "cannot write log.%08" PRIu64 " at %u: %s",
			  last_segment(el)->number, el->pos, strerror(-rc));
	return rc;
}

int entry_log_cut(struct entry_log *el, uint64_t index)
{
	size_t gone = 0;
	int rc = 0;

	for (; gone + 1 < el->n && el->segments[gone].high < index; gone++) {
		char name[SEGMENT_NAME_MAX];

		segment_name(el->segments[gone].number, name);
		rc = disk_folder_remove(&el->disk, name);
		if (rc) {
			log_error(el->log, "cannot remove %s: %s", name,
				  strerror(-rc));
			break;
		}
		/* In order, so that a crash leaves no hole. */
		rc = disk_folder_sync_folder(&el->disk);
		if (rc)
			break;
	}
	el->n -= gone;
	memmove(el->segments, el->segments + gone,
		el->n * sizeof(*el->segments));
	return rc;
}

/* ---- open and close ---- */

int entry_log_open(const struct entry_log_attr *attr,
		   struct log_contents *contents, struct entry_log **el)
{
	struct entry_log *new = calloc(1, sizeof(*new));
	int rc = -ENOMEM;

	*contents = (struct log_contents){ 0 };
	if (!new)
		return -ENOMEM;
	if (attr->segment_size % LOG_BLOCK ||
	    attr->segment_size < SEGMENT_MIN) {
		log_error(attr->log,
			  "segments of %" PRIu32 " bytes: they are "
			  "multiples of 4096, at least 65536",
			  attr->segment_size);
		free(new);
		return -EINVAL;
	}
	new->disk = attr->disk;
	new->segment_size = attr->segment_size;
	new->limit = attr->limit;
	new->log = attr->log;
	new->fd = new->spare = new->end = -1;
	new->records = malloc(new->segment_size);
	new->sectors = malloc(new->segment_size);
	if (new->records &&new->sectors)
		rc = entry_log_load(new, contents);
	if (rc) {
		log_contents_free(contents);
		entry_log_close(new);
		return rc;
	}
	*el = new;
	return 0;
}

void entry_log_close(struct entry_log *el)
{
	if (el->fd >= 0)
		disk_folder_close_file(&el->disk, el->fd);
	if (el->spare >= 0)
		disk_folder_close_file(&el->disk, el->spare);
	if (el->end >= 0)
		disk_folder_close_file(&el->disk, el->end);
	free(el->segments);
	free(el->records);
	free(el->sectors);
	free(el);
}
