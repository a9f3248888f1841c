/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_write_set.c - entries of the managers' log, as from another manager or a damaged disk. */
#include <errno.h>
#include <string.h>

#include "mgr/db/write_set.h"
#include "tests/fuzz/fuzz.h"

static void check_row(const struct row_image *row)
{
	FUZZ_SURE(row->table < STORE_TABLES);
	FUZZ_SURE(row->klen && row->klen <= STORE_KEY_MAX);
	FUZZ_SURE(row->len <= STORE_VAL_MAX);
	FUZZ_SURE(row->exists || !row->len);
	fuzz_touch(row->key, row->klen);
	fuzz_touch(row->val, row->len);
}

/* Builds an accepted entry again from its rows, and checks that it has the same bytes. */
static void make_again(const struct write_entry_info *info, const uint8_t *data,
		       size_t len)
{
	struct write_entry e = { .first = info->first };
	struct row_list set = { 0 };
	const uint8_t *at = info->rows;
	struct row_image row;

	while (row_next(&at, info->end, &row) == 1) {
		check_row(&row);
		FUZZ_SURE(!row_list_add(&set, &row));
	}
	FUZZ_SURE(at == info->end && write_entry_has_room(&e, &set));
	FUZZ_SURE(!write_entry_reserve(&e, &set));
	write_entry_add(&e, &set);
	e.changes = (uint32_t)(info->last - info->first + 1);
	write_entry_finish(&e);
	FUZZ_SURE(e.list.len == len && !memcmp(e.list.bytes, data, len));
	write_entry_free(&e);
	row_list_free(&set);
}

void fuzz_one(const uint8_t *data, size_t len)
{
	struct write_entry_info info;
	int rc = write_entry_read(data, len, &info);

	FUZZ_SURE(rc == 0 || rc == -EBADMSG);
	if (rc)
		return;
	FUZZ_SURE(info.first && info.last >= info.first);
	make_again(&info, data, len);
}

static void seed(unsigned int rows, size_t len)
{
	static const uint8_t val[STORE_VAL_MAX];
	struct write_entry e = { .first = 77 };
	struct row_list set = { 0 };

	for (unsigned int i = 0; i < rows; i++) {
		const struct row_image row = {
			.table = i % STORE_TABLES,
			.exists = i % 3,
			.key = "some key of a row",
			.klen = 1 + i % 17,
			.val = val,
			.len = i % 3 ? len : 0,
		};

		FUZZ_SURE(!row_list_add(&set, &row));
	}
	for (int i = 0; i < 2; i++) {
		FUZZ_SURE(!write_entry_reserve(&e, &set));
		write_entry_add(&e, &set);
	}
	write_entry_finish(&e);
	fuzz_seed(e.list.bytes, e.list.len);
	write_entry_free(&e);
	row_list_free(&set);
}

void fuzz_seeds(void)
{
	seed(1, 0);
	seed(4, 10);
	seed(30, 200);
	seed(3, STORE_VAL_MAX);
}
