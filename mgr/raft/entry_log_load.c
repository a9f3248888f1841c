/* SPDX-License-Identifier: BSD-2-Clause */
/* entry_log_load.c - reading the log at start; entry_log.h has the rule for its end. */
#include "mgr/raft/entry_log_int.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct load {
	struct entry_log *el;
	struct log_contents *contents;
	uint64_t number; /* of the segment in buf */
	uint8_t *buf;
	uint32_t end; /* where the complete batches of buf end */
	uint32_t last; /* where the last of them starts */
	uint32_t last_batch; /* of the log: where it starts */
	uint64_t torn; /* the segment with remains of one more batch; 0: none */
};

/* ---- the files ---- */

struct segment_list {
	uint64_t *numbers;
	size_t n, room;
	int rc;
	bool unfinished; /* a segment that did not get its name */
};

static void list_segment(void *ctx, const char *name)
{
	struct segment_list *list = ctx;
	char again[SEGMENT_NAME_MAX];
	uint64_t number;

	if (!strcmp(name, SEGMENT_NEW_NAME))
		list->unfinished = true;
	if (sscanf(name, "log.%" SCNu64, &number) != 1)
		return;
	segment_name(number, again);
	if (strcmp(name, again) || list->rc)
		return;
	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 16;
		uint64_t *numbers = reallocarray(list->numbers, room,
						 sizeof(*numbers));

		if (!numbers) {
			list->rc = -ENOMEM;
			return;
		}
		list->numbers = numbers;
		list->room = room;
	}
	list->numbers[list->n++] = number;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int list_segments(struct entry_log *el, struct segment_list *list)
{
	int rc = disk_folder_list(&el->disk, list_segment, list);

	rc = rc ? rc : list->rc;
	if (rc)
		return rc;
	if (list->unfinished)
		disk_folder_remove(&el->disk, SEGMENT_NEW_NAME);
	if (list->n)
		qsort(list->numbers, list->n, sizeof(*list->numbers),
		      compare_numbers);
	for (size_t i = 1; i < list->n; i++)
		if (list->numbers[i] != list->numbers[i - 1] + 1) {
			log_error(el->log,
				  "log.%08" PRIu64 " is missing: this member "
				  "must be filled again from the others",
				  list->numbers[i - 1] + 1);
			return -EIO;
		}
	return 0;
}

/* ---- one segment ---- */

static int report_damage(const struct load *load, uint32_t offset,
			 const char *what)
{
	log_error(load->el->log,
		  "log.%08" PRIu64 " is damaged at offset %" PRIu32
		  ": %s; this member must be filled again from the others",
		  load->number, offset, what);
	return -EIO;
}

static int read_segment(struct load *load, int fd)
{
	struct entry_log *el = load->el;
	int64_t size = disk_folder_size(&el->disk, fd);
	int rc;

	if (size < 0)
		return (int)size;
	if (size != el->segment_size)
		return report_damage(load, (uint32_t)size, "its size is wrong");
	rc = disk_folder_read(&el->disk, fd, load->buf, el->segment_size, 0);
	if (rc)
		log_error(el->log, "cannot read log.%08" PRIu64 ": %s",
			  load->number, strerror(-rc));
	return rc;
}

/* Whether the sector at offset belongs to the batch that is expected next. */
static bool sector_is_next(const struct load *load, uint32_t offset)
{
	struct log_place place = { load->number, load->el->batch + 1,
				   offset / LOG_SECTOR };

	return log_sector_fits(&place, load->buf + offset);
}

/*
 * Reads the head of a batch that may start at load->end.  Its number must follow the previous one;
 * that of the first batch in the first segment may be any.
 */
static bool read_head(struct load *load, struct batch_head *head)
{
	struct entry_log *el = load->el;

	if (el->segment_size - load->end < LOG_BLOCK)
		return false;
	log_sectors_read(load->buf + load->end, 0, head, sizeof(*head));
	if (le64toh(head->magic) != BATCH_MAGIC ||
	    le32toh(head->crc) != batch_head_crc(head))
		return false;
	if (!el->n && !el->batch && load->number > 1)
		el->batch = le64toh(head->batch) - 1;
	return le64toh(head->batch) == el->batch + 1 &&
	       le32toh(head->len) <= batch_room(el->segment_size - load->end) &&
	       sector_is_next(load, load->end);
}

static bool batch_is_complete(const struct load *load, uint32_t len)
{
	uint32_t n = log_sectors(sizeof(struct batch_head) + len);

	for (uint32_t i = 0; i < n; i++)
		if (!sector_is_next(load, load->end + i * LOG_SECTOR))
			return false;
	return true;
}

/* The sectors between a batch and the next block were never written. */
static bool gap_is_empty(const struct load *load, uint32_t len)
{
	uint32_t n = log_sectors(sizeof(struct batch_head) + len);
	uint32_t at = load->end + n * LOG_SECTOR;

	for (; at < load->end + batch_span(len); at += LOG_SECTOR)
		if (!log_sector_is_empty(load->buf + at))
			return false;
	return true;
}

static int add_records(struct load *load, size_t len, uint64_t *high)
{
	const uint8_t *bytes = load->el->records;
	struct log_record record;

	while (len) {
		int64_t size = log_record_decode(bytes, len, &record);
		int rc = size < 0 ? (int)size
				  : log_contents_add(load->contents, &record);

		if (rc == -ENOMEM)
			return rc;
		if (rc)
			return report_damage(load, load->end, "not a record");
		if (record.kind == LOG_ENTRY && record.index > *high)
			*high = record.index;
		bytes += size;
		len -= (size_t)size;
	}
	return 0;
}

/* 1: a batch was read; 0: there is no complete one. */
static int load_batch(struct load *load, uint64_t *high)
{
	struct entry_log *el = load->el;
	struct log_contents *contents = load->contents;
	struct batch_head head;
	uint32_t len;
	int rc;

	if (!read_head(load, &head))
		return 0;
	len = le32toh(head.len);
	if (!batch_is_complete(load, len))
		return 0;
	if (!gap_is_empty(load, len))
		return report_damage(load, load->end, "wrong end of a batch");
	if (!el->batch)
		contents->first = 1;
	else if (!contents->first)
		contents->first = le64toh(head.next);
	if (le64toh(head.next) != log_contents_next(contents))
		return report_damage(load, load->end, "entries are missing");
	log_sectors_read(load->buf + load->end, sizeof(head), el->records, len);
	rc = add_records(load, len, high);
	if (rc)
		return rc;
	el->batch++;
	load->last = load->end;
	load->end += batch_span(len);
	return 1;
}

/* After the complete batches there may only be remains of the next one, and zeros. */
static int check_rest(struct load *load)
{
	struct entry_log *el = load->el;
	bool torn = false;

	for (uint32_t at = load->end; at < el->segment_size; at += LOG_SECTOR) {
		if (log_sector_is_empty(load->buf + at))
			continue;
		if (load->torn || !sector_is_next(load, at))
			return report_damage(load, at, "wrong checksum");
		torn = true;
	}
	if (torn)
		load->torn = load->number;
	return 0;
}

static int load_segment(struct load *load, int fd)
{
	struct entry_log *el = load->el;
	uint64_t high = 0;
	int rc = read_segment(load, fd);

	load->end = 0;
	if (rc)
		return rc;
	while (!load->torn && (rc = load_batch(load, &high)) > 0)
		;
	rc = rc ? rc : check_rest(load);
	if (rc)
		return rc;
	if (load->end || (!el->n && load->number == 1)) {
		rc = segments_add(el, load->number);
		if (rc)
			return rc;
		el->segments[el->n - 1].high = high;
	}
	return el->n ? 0 : report_damage(load, 0, "it holds no batch");
}

/* ---- all of them ---- */

/* Keeps the descriptors of the segment that is written to, and of the one after it. */
static void keep_segment(struct load *load, int fd)
{
	struct entry_log *el = load->el;

	if (load->number == el->segments[el->n - 1].number) {
		if (el->fd >= 0)
			disk_folder_close_file(&el->disk, el->fd);
		el->fd = fd;
		el->pos = load->end;
		load->last_batch = load->last;
	} else {
		el->spare = fd;
	}
}

static int load_file(struct load *load, uint64_t number)
{
	struct entry_log *el = load->el;
	char name[SEGMENT_NAME_MAX];
	int fd, rc;

	segment_name(number, name);
	fd = disk_folder_open_file(&el->disk, name, false);
	if (fd < 0) {
		log_error(el->log, "cannot open %s: %s", name, strerror(-fd));
		return fd;
	}
	load->number = number;
	rc = load_segment(load, fd);
	/* An empty segment is the spare one, which no other follows. */
	if (!rc && el->spare >= 0)
		rc = report_damage(load, 0, "it follows an empty segment");
	if (rc) {
		disk_folder_close_file(&el->disk, fd);
		return rc;
	}
	keep_segment(load, fd);
	return 0;
}

/*
 * Writes the last batch again.  If its sync failed, the page cache may show it although it will
 * never reach the disk.  All earlier batches were synced.
 */
static int rewrite_last(const struct load *load)
{
	struct entry_log *el = load->el;
	uint32_t len = el->pos - load->last_batch;
	int rc = disk_folder_sync_folder(&el->disk);

	if (!rc && len) {
		rc = disk_folder_read(&el->disk, el->fd, load->buf, len,
				      load->last_batch);
		rc = rc ? rc
			: disk_folder_write(&el->disk, el->fd, load->buf, len,
					    load->last_batch);
		rc = rc ? rc : disk_folder_sync(&el->disk, el->fd);
	}
	if (rc)
		log_error(el->log, "cannot write log.%08" PRIu64 " again: %s",
			  el->segments[el->n - 1].number, strerror(-rc));
	return rc;
}

/* Overwrites what a torn batch has left. */
static int wipe_torn(const struct load *load)
{
	struct entry_log *el = load->el;
	bool last = load->torn == el->segments[el->n - 1].number;
	int fd = last ? el->fd : el->spare;
	uint32_t from = last ? el->pos : 0;
	int rc;

	memset(load->buf, 0, el->segment_size);
	rc = disk_folder_write(&el->disk, fd, load->buf,
			       el->segment_size - from, from);
	rc = rc ? rc : disk_folder_sync(&el->disk, fd);
	if (rc)
		log_error(el->log, "cannot cut log.%08" PRIu64 ": %s",
			  load->torn, strerror(-rc));
	return rc;
}

static int load_files(struct load *load, const struct segment_list *list)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < list->n; i++)
		rc = load_file(load, list->numbers[i]);
	if (rc)
		return rc;
	if (!load->contents->first)
		load->contents->first = 1;
	if (log_contents_have_gap(load->contents))
		return report_damage(load, 0,
				     "entries after the snapshot are missing");
	load->el->next = log_contents_next(load->contents);
	rc = log_end_open(load->el);
	rc = rc ? rc : rewrite_last(load);
	return rc || !load->torn ? rc : wipe_torn(load);
}

static int make_first(struct entry_log *el, struct log_contents *contents)
{
	int rc = log_end_open(el);
	int fd = rc ? rc : segment_make(el, 1);

	if (rc)
		return rc;
	if (fd < 0) {
		log_error(el->log, "cannot make the log: %s", strerror(-fd));
		return fd;
	}
	el->fd = fd;
	el->next = 1;
	contents->first = 1;
	return segments_add(el, 1);
}

int entry_log_load(struct entry_log *el, struct log_contents *contents)
{
	struct segment_list list = { 0 };
	struct load load = { .el = el,
			     .contents = contents,
			     .buf = malloc(el->segment_size) };
	int rc = load.buf ? list_segments(el, &list) : -ENOMEM;

	if (!rc && list.n)
		rc = load_files(&load, &list);
	else if (!rc)
		rc = make_first(el, contents);
	free(load.buf);
	free(list.numbers);
	return rc;
}
