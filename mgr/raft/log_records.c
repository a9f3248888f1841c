/* SPDX-License-Identifier: BSD-2-Clause */
/* log_records.c - see log_records.h. */
#include "mgr/raft/log_records.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/crc32c.h"

static int entries_grow(struct log_contents *contents)
{
	size_t room = contents->room ? 2 * contents->room : 64;
	struct log_entry *entries = reallocarray(contents->entries, room,
						 sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	contents->entries = entries;
	contents->room = room;
	return 0;
}

static void *copy_data(const struct log_record *record)
{
	void *copy = malloc(record->len ? record->len : 1);

	if (copy && record->len)
		memcpy(copy, record->data, record->len);
	return copy;
}

static int add_entry(struct log_contents *contents,
		     const struct log_record *record)
{
	struct log_entry *entry;
	uint64_t before = contents->n ? contents->entries[contents->n - 1].term
				      : 0;

	if (record->index != log_contents_next(contents) ||
	    record->term < before || !record->term)
		return -EINVAL;
	if (contents->n == contents->room && entries_grow(contents))
		return -ENOMEM;
	entry = &contents->entries[contents->n];
	*entry = (struct log_entry){ .term = record->term,
				     .data = copy_data(record),
				     .len = record->len,
				     .type = record->type };
	if (!entry->data)
		return -ENOMEM;
	contents->n++;
	return 0;
}

/* The entries from index on are gone. */
static int truncate_entries(struct log_contents *contents, uint64_t index)
{
	if (!index || index > log_contents_next(contents))
		return -EINVAL;
	while (contents->n && log_contents_next(contents) > index)
		free(contents->entries[--contents->n].data);
	if (!contents->n)
		contents->first = index;
	return 0;
}

static int add_snapshot(struct log_contents *contents,
			const struct log_record *record)
{
	void *data;

	if (!record->index || !record->term ||
	    record->index < contents->snapshot.index)
		return -EINVAL;
	if (record->kind == LOG_SNAPSHOT &&
	    record->index >= log_contents_next(contents))
		return -EINVAL;
	data = copy_data(record);
	if (!data)
		return -ENOMEM;
	free(contents->snapshot.data);
	contents->snapshot.index = record->index;
	contents->snapshot.term = record->term;
	contents->snapshot.data = data;
	contents->snapshot.len = record->len;
	if (record->kind == LOG_RESET) {
		while (contents->n)
			free(contents->entries[--contents->n].data);
		contents->first = record->index + 1;
	}
	return 0;
}

int log_contents_add(struct log_contents *contents,
		     const struct log_record *record)
{
	switch (record->kind) {
	case LOG_ENTRY:
		return add_entry(contents, record);
	case LOG_TRUNCATE:
		return truncate_entries(contents, record->index);
	case LOG_SNAPSHOT:
	case LOG_RESET:
		return add_snapshot(contents, record);
	}
	return -EINVAL;
}

bool log_contents_have_gap(const struct log_contents *contents)
{
	uint64_t snapshot = contents->snapshot.index;

	return contents->first > snapshot + 1 ||
	       log_contents_next(contents) < snapshot + 1;
}

void log_contents_free(struct log_contents *contents)
{
	while (contents->n)
		free(contents->entries[--contents->n].data);
	free(contents->entries);
	free(contents->snapshot.data);
	*contents = (struct log_contents){ 0 };
}

/* Little endian, as on disk. */
struct record_head {
	uint32_t head_crc; /* over the rest of the head */
	uint32_t data_crc;
	uint32_t len;
	uint16_t kind;
	uint16_t type;
	uint64_t index;
	uint64_t term;
};
_Static_assert(sizeof(struct record_head) == LOG_RECORD_HEAD, "on disk");

static uint32_t head_crc(const struct record_head *head)
{
	return crc32c(0, (const uint8_t *)head + 4, sizeof(*head) - 4);
}

void log_record_encode(const struct log_record *record, void *out)
{
	struct record_head head = {
		.data_crc = htole32(crc32c(0, record->data, record->len)),
		.len = htole32(record->len),
		.kind = htole16((uint16_t)record->kind),
		.type = htole16(record->type),
		.index = htole64(record->index),
		.term = htole64(record->term),
	};
	size_t size = log_record_size(record->len) - LOG_RECORD_HEAD;
	uint8_t *bytes = out;

	head.head_crc = htole32(head_crc(&head));
	memcpy(bytes, &head, sizeof(head));
	if (record->len)
		memcpy(bytes + sizeof(head), record->data, record->len);
	memset(bytes + sizeof(head) + record->len, 0, size - record->len);
}

int64_t log_record_decode(const void *bytes, size_t len,
			  struct log_record *record)
{
	struct record_head head;
	const uint8_t *data = (const uint8_t *)bytes + sizeof(head);
	uint32_t data_len;

	if (len < sizeof(head))
		return -EINVAL;
	memcpy(&head, bytes, sizeof(head));
	data_len = le32toh(head.len);
	if (le32toh(head.head_crc) != head_crc(&head) ||
	    data_len > LOG_ENTRY_MAX || log_record_size(data_len) > len ||
	    le32toh(head.data_crc) != crc32c(0, data, data_len))
		return -EINVAL;
	*record = (struct log_record){ .kind = le16toh(head.kind),
				       .type = le16toh(head.type),
				       .index = le64toh(head.index),
				       .term = le64toh(head.term),
				       .data = data,
				       .len = data_len };
	return (int64_t)log_record_size(data_len);
}
