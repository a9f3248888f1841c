/* SPDX-License-Identifier: BSD-2-Clause */
/* write_set.c - see write_set.h. */
#include "mgr/db/write_set.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x53577670u /* "pvWS" */
#define VERSION 1u
#define CAP_MIN 4096u /* bytes */

enum row_kind { ROW_PUT = 1, ROW_DEL = 2 };

struct row_head {
	uint8_t table;
	uint8_t kind;
	uint16_t klen;
	uint32_t len;
};
_Static_assert(sizeof(struct row_head) == 8, "head of a row");

struct entry_head {
	uint32_t magic, version;
	uint64_t first;
	uint32_t changes, rows;
	uint32_t len; /* bytes of the rows */
	uint32_t zero;
};
_Static_assert(sizeof(struct entry_head) == ENTRY_HEAD, "head of an entry");

/* ---- rows ---- */

static int list_reserve(struct row_list *list, size_t more)
{
	size_t cap = list->cap ? list->cap : CAP_MIN;
	uint8_t *bytes;

	while (cap < list->len + more)
		cap *= 2;
	if (cap == list->cap)
		return 0;
	bytes = realloc(list->bytes, cap);
	if (!bytes)
		return -ENOMEM;
	list->bytes = bytes;
	list->cap = cap;
	return 0;
}

/* There is space. */
static void list_append(struct row_list *list, const void *data, size_t len)
{
	if (len)
		memcpy(list->bytes + list->len, data, len);
	list->len += len;
}

int row_list_add(struct row_list *list, const struct row_image *row)
{
	const struct row_head head = {
		.table = (uint8_t)row->table,
		.kind = row->exists ? ROW_PUT : ROW_DEL,
		.klen = htole16((uint16_t)row->klen),
		.len = htole32((uint32_t)row->len),
	};

	if (list_reserve(list, sizeof(head) + row->klen + row->len))
		return -ENOMEM;
	list_append(list, &head, sizeof(head));
	list_append(list, row->key, row->klen);
	list_append(list, row->val, row->len);
	list->rows++;
	return 0;
}

void row_list_free(struct row_list *list)
{
	free(list->bytes);
	*list = (struct row_list){ 0 };
}

static bool row_is_valid(const struct row_image *row, uint8_t kind)
{
	return row->table < STORE_TABLES &&
	       (kind == ROW_PUT || (kind == ROW_DEL && !row->len)) &&
	       row->klen && row->klen <= STORE_KEY_MAX &&
	       row->len <= STORE_VAL_MAX;
}

int row_next(const uint8_t **at, const uint8_t *end, struct row_image *row)
{
	const size_t left = (size_t)(end - *at);
	struct row_head head;

	if (!left)
		return 0;
	if (left < sizeof(head))
		return -EBADMSG;
	memcpy(&head, *at, sizeof(head));
	*row = (struct row_image){
		.table = (enum store_table)head.table,
		.exists = head.kind == ROW_PUT,
		.key = *at + sizeof(head),
		.klen = le16toh(head.klen),
		.len = le32toh(head.len),
	};
	if (!row_is_valid(row, head.kind) ||
	    left - sizeof(head) < row->klen + row->len)
		return -EBADMSG;
	row->val = *at + sizeof(head) + row->klen;
	*at += sizeof(head) + row->klen + row->len;
	return 1;
}

/* ---- entries ---- */

static size_t entry_len(const struct write_entry *e)
{
	return e->list.len ? e->list.len : ENTRY_HEAD;
}

bool write_entry_has_room(const struct write_entry *e,
			  const struct row_list *set)
{
	return entry_len(e) + set->len <= STORE_ENTRY_MAX;
}

int write_entry_reserve(struct write_entry *e, const struct row_list *set)
{
	return list_reserve(&e->list, ENTRY_HEAD + set->len);
}

void write_entry_add(struct write_entry *e, const struct row_list *set)
{
	e->list.len = entry_len(e);
	list_append(&e->list, set->bytes, set->len);
	e->list.rows += set->rows;
	e->changes++;
}

void write_entry_finish(struct write_entry *e)
{
	const struct entry_head head = {
		.magic = htole32(MAGIC),
		.version = htole32(VERSION),
		.first = htole64(e->first),
		.changes = htole32(e->changes),
		.rows = htole32(e->list.rows),
		.len = htole32((uint32_t)(e->list.len - ENTRY_HEAD)),
	};

	memcpy(e->list.bytes, &head, sizeof(head));
}

void write_entry_free(struct write_entry *e)
{
	row_list_free(&e->list);
}

static bool head_is_valid(const struct entry_head *h, size_t len)
{
	return le32toh(h->magic) == MAGIC && le32toh(h->version) == VERSION &&
	       !h->zero && len <= STORE_ENTRY_MAX &&
	       le32toh(h->len) == len - ENTRY_HEAD && h->first && h->changes &&
	       le64toh(h->first) <= UINT64_MAX - le32toh(h->changes);
}

int write_entry_read_head(const void *entry, size_t len,
			  struct write_entry_info *info)
{
	struct entry_head head;

	if (len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, entry, sizeof(head));
	if (!head_is_valid(&head, len))
		return -EBADMSG;
	info->first = le64toh(head.first);
	info->last = info->first + le32toh(head.changes) - 1;
	info->rows = (const uint8_t *)entry + ENTRY_HEAD;
	info->end = (const uint8_t *)entry + len;
	return 0;
}

int write_entry_read(const void *entry, size_t len,
		     struct write_entry_info *info)
{
	struct row_image row;
	const uint8_t *at;
	uint32_t rows = 0, expected;
	int rc = write_entry_read_head(entry, len, info);

	if (rc)
		return rc;
	at = info->rows;
	while ((rc = row_next(&at, info->end, &row)) > 0)
		rows++;
	memcpy(&expected,
	       (const uint8_t *)entry + offsetof(struct entry_head, rows),
	       sizeof(expected));
	return rc ? rc : rows == le32toh(expected) ? 0 : -EBADMSG;
}
