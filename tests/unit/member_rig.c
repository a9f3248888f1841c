/* SPDX-License-Identifier: BSD-2-Clause */
/* member_rig.c - see member_rig.h. */
#include "tests/unit/member_rig.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/crc32c.h"
#include "mgr/db/write_set.h"

static const enum store_table rig_table[RIG_TABLES] = { STORE_INODES,
							STORE_DIRENTS,
							STORE_REPLIES };

/* ---- values ---- */

static size_t value_of(uint32_t seed, uint8_t val[STORE_VAL_MAX])
{
	size_t len = 4 + (seed % 16 ? seed % 300 : seed % 8000);

	memcpy(val, &seed, 4);
	for (size_t i = 4; i < len; i++)
		val[i] = (uint8_t)(seed * 31 + i);
	return len;
}

static uint32_t seed_of(const void *val, size_t len)
{
	uint8_t expected[STORE_VAL_MAX];
	uint32_t seed;

	ck_assert_uint_ge(len, 4);
	memcpy(&seed, val, 4);
	ck_assert_uint_eq(value_of(seed, expected), len);
	ck_assert_mem_eq(val, expected, len);
	return seed;
}

int rig_put(struct store *st, unsigned int table, unsigned int key,
	    uint32_t seed)
{
	uint8_t val[STORE_VAL_MAX], k[8];

	key_u64(k, key);
	return seed ? store_put(st, rig_table[table], k, sizeof(k), val,
				value_of(seed, val))
		    : store_del(st, rig_table[table], k, sizeof(k));
}

/* ---- the log ---- */

void rig_init(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig->out = (struct log_file){ stderr, "test" };
	rig->log = (struct log){ LOG_LV_WARN, log_to_file, &rig->out };
	rig->term = 1;
}

void rig_truncate(struct rig *rig)
{
	for (; rig->last > rig->committed; rig->last--)
		free(rig->entry[rig->last].bytes);
}

void rig_free(struct rig *rig)
{
	rig->committed = 0;
	rig_truncate(rig);
}

static void model_change(struct rig_model *model, const struct row_image *row)
{
	for (unsigned int t = 0; t < RIG_TABLES; t++)
		if (row->table == rig_table[t])
			model->seed[t][key_get_u64(row->key)] =
				row->exists ? seed_of(row->val, row->len) : 0;
}

static struct rig_entry *append(struct rig *rig, enum rig_entry_kind kind,
				const void *bytes, size_t len)
{
	struct rig_entry *e;

	ck_assert_uint_lt(rig->last + 1, RIG_ENTRIES);
	e = &rig->entry[++rig->last];
	*e = (struct rig_entry){ .kind = kind, .term = rig->term, .len = len };
	e->bytes = malloc(len + 1);
	memcpy(e->bytes, bytes, len);
	e->after = e[-1].after;
	return e;
}

static void append_data(struct rig *rig, const void *bytes, size_t len)
{
	struct rig_entry *e = append(rig, RIG_DATA, bytes, len);
	struct write_entry_info info;
	struct row_image row;

	ck_assert_int_eq(write_entry_read(e->bytes, len, &info), 0);
	while (row_next(&info.rows, info.end, &row) == 1)
		model_change(&e->after, &row);
}

static int replicate(void *arg, const void *bytes, size_t len)
{
	struct rig *rig = arg;

	if (rig->refuse) {
		rig->refuse--;
		return -ENOSPC;
	}
	append_data(rig, bytes, len);
	if (rig->depose)
		return -ESTALE;
	ck_assert_int_eq(store_note_own_entry(rig->leader, rig->last, rig->term,
					      bytes, len),
			 0);
	rig->committed = rig->last;
	return 0;
}

/* Entries may be in the log before the ones before them are committed. */
static int flush_by_hand(struct rig *rig)
{
	uint64_t first = rig->last + 1;
	const void *bytes;
	size_t len;

	while (!store_next_entry(rig->leader, &bytes, &len))
		append_data(rig, bytes, len);
	if (rig->depose)
		return -ESTALE;
	for (; first <= rig->last; first++) {
		const struct rig_entry *e = &rig->entry[first];

		ck_assert_int_eq(store_note_own_entry(rig->leader, first,
						      rig->term, e->bytes,
						      e->len),
				 0);
		rig->committed = first;
	}
	return store_flush(rig->leader);
}

int rig_flush(struct rig *rig)
{
	return rig->takes_entries ? flush_by_hand(rig)
				  : store_flush(rig->leader);
}

void rig_append_other(struct rig *rig, enum rig_entry_kind kind)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "members %u",
			   (unsigned int)rig->last);

	append(rig, kind, text, (size_t)len);
	rig->committed = rig->last;
	if (kind == RIG_NOTHING)
		ck_assert_int_eq(store_note_committed(rig->leader, rig->last,
						      rig->term),
				 0);
	else
		ck_assert_int_eq(store_note_configuration(rig->leader,
							  rig->last, rig->term,
							  text, (size_t)len),
				 0);
}

/* ---- members ---- */

static void run_command(const char *format, const char *a, const char *b)
{
	char cmd[256];

	snprintf(cmd, sizeof(cmd), format, a, b);
	ck_assert_int_eq(system(cmd), 0);
}

void rig_member_make(struct rig_member *m, const char *name)
{
	snprintf(m->dir, sizeof(m->dir), "/tmp/pvfs-%s-XXXXXX", name);
	ck_assert_ptr_nonnull(mkdtemp(m->dir));
	m->st = NULL;
}

void rig_member_remove(struct rig_member *m)
{
	rig_close(m);
	run_command("rm -rf %s%s", m->dir, "");
}

void rig_member_copy(const struct rig_member *from, struct rig_member *to)
{
	run_command("rm -rf %s%s", to->dir, "");
	run_command("cp -r %s %s", from->dir, to->dir);
}

int rig_open(struct rig *rig, struct rig_member *m)
{
	struct store_attr attr = { .dir = m->dir,
				   .cache_size = 1 << 20,
				   .log = &rig->log,
				   .replicated = true,
				   .replicate = rig->takes_entries ? NULL
								   : replicate,
				   .replicate_arg = rig };

	return store_open(&attr, &m->st);
}

void rig_close(struct rig_member *m)
{
	store_close(m->st);
	m->st = NULL;
}

void rig_lead(struct rig *rig, struct rig_member *m)
{
	rig->leader = m->st;
	rig->term++;
	ck_assert_int_eq(store_lead(m->st), 0);
	if (!rig->takes_entries)
		return;
	ck_assert_int_eq(store_begin(m->st), -EAGAIN);
	ck_assert_int_eq(rig_flush(rig), 0);
}

uint64_t rig_next_index(struct store *st)
{
	struct store_applied applied;

	ck_assert_int_eq(store_record_committed(st), 0);
	ck_assert_int_eq(store_get_applied(st, &applied), 0);
	return applied.index + 1;
}

int rig_apply(struct rig *rig, struct rig_member *m, uint64_t index)
{
	const struct rig_entry *e = &rig->entry[index];

	if (e->kind == RIG_DATA)
		return store_apply(m->st, index, e->term, e->bytes, e->len);
	if (e->kind == RIG_CONFIG)
		return store_note_configuration(m->st, index, e->term, e->bytes,
						e->len);
	return store_note_committed(m->st, index, e->term);
}

void rig_apply_all(struct rig *rig, struct rig_member *m)
{
	for (uint64_t i = rig_next_index(m->st); i <= rig->committed; i++)
		ck_assert_int_eq(rig_apply(rig, m, i), 0);
	ck_assert_int_eq(store_record_committed(m->st), 0);
}

/* ---- rows ---- */

static unsigned int rows_of_table(struct store *st, unsigned int t,
				  const struct rig_model *model)
{
	struct store_cursor it;
	unsigned int n = 0;

	ck_assert_int_eq(store_cursor_open(st, rig_table[t], "", 0, &it), 0);
	for (; !store_cursor_next(&it); n++)
		ck_assert_uint_eq(seed_of(it.val, it.len),
				  model->seed[t][key_get_u64(it.key)]);
	store_cursor_close(&it);
	return n;
}

void rig_check_rows(struct store *st, const struct rig_model *model)
{
	for (unsigned int t = 0; t < RIG_TABLES; t++) {
		unsigned int n = 0;

		for (unsigned int k = 0; k < RIG_KEYS; k++)
			n += model->seed[t][k] != 0;
		ck_assert_uint_eq(rows_of_table(st, t, model), n);
	}
}

static uint64_t last_config(const struct rig *rig, uint64_t index)
{
	while (index && rig->entry[index].kind != RIG_CONFIG)
		index--;
	return index;
}

void rig_check_applied(struct rig *rig, struct rig_member *m)
{
	struct store_applied applied;
	const struct rig_entry *e;

	ck_assert_int_eq(store_get_applied(m->st, &applied), 0);
	ck_assert_uint_le(applied.index, rig->committed);
	ck_assert_uint_ge(applied.index, store_durable_index(m->st));
	ck_assert_uint_eq(applied.term, rig->entry[applied.index].term);
	ck_assert_uint_eq(applied.config_index,
			  last_config(rig, applied.index));
	e = &rig->entry[applied.config_index];
	ck_assert_uint_eq(applied.config_len, e->len);
	if (e->len)
		ck_assert_mem_eq(applied.config, e->bytes, e->len);
	rig_check_rows(m->st, &rig->entry[applied.index].after);
}

uint32_t rig_sum(struct store *st)
{
	struct store_cursor it;
	uint32_t sum = 0;

	for (enum store_table t = 0; t < STORE_TABLES; t++) {
		ck_assert_int_eq(store_cursor_open(st, t, "", 0, &it), 0);
		while (!store_cursor_next(&it)) {
			sum = crc32c(sum, it.key, it.klen);
			sum = crc32c(sum, it.val, it.len);
		}
		store_cursor_close(&it);
	}
	return sum;
}
