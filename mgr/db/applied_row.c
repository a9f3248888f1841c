/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * applied_row.c - up to which entry of the managers' log the tables contain its changes, and the
 * last committed configuration.  Two rows, because the configuration rarely changes.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/replication_int.h"

/* Longer than the keys of undo rows. */
static const uint8_t applied_key[9] = { [8] = 1 };
static const uint8_t config_key[9] = { [8] = 2 };

#define APPLIED_VERSION 2u /* and of the undo rows */

struct applied_row {
	uint64_t index, term, change;
	uint32_t version, zero;
};
_Static_assert(sizeof(struct applied_row) == 32, "row of what is applied");

struct config_row {
	uint64_t index;
	uint32_t version, zero;
	uint8_t bytes[STORE_CONFIG_MAX];
};
#define CONFIG_HEAD offsetof(struct config_row, bytes)

static int report_damaged_row(struct store *st)
{
	log_error(st->log,
		  "database %s: the record of what is applied is damaged: let "
		  "another manager fill this one",
		  st->home);
	return -EIO;
}

static int position_get(struct store *st, struct store_applied *applied)
{
	struct applied_row row;
	size_t len;
	int rc = raw_get(st, TABLE_MEMBER, applied_key, sizeof(applied_key),
			 &row, sizeof(row), &len);

	if (rc)
		return rc;
	if (len != sizeof(row) || le32toh(row.version) != APPLIED_VERSION)
		return report_damaged_row(st);
	applied->index = le64toh(row.index);
	applied->term = le64toh(row.term);
	applied->change = le64toh(row.change);
	return 0;
}

static int config_get(struct store *st, struct store_applied *applied)
{
	struct config_row row;
	size_t len;
	int rc = raw_get(st, TABLE_MEMBER, config_key, sizeof(config_key), &row,
			 sizeof(row), &len);

	if (rc)
		return rc;
	if (len < CONFIG_HEAD || le32toh(row.version) != 1)
		return report_damaged_row(st);
	applied->config_index = le64toh(row.index);
	applied->config_len = len - CONFIG_HEAD;
	memcpy(applied->config, row.bytes, applied->config_len);
	return 0;
}

int applied_get(struct store *st, struct store_applied *applied)
{
	int rc;

	memset(applied, 0, sizeof(*applied));
	rc = position_get(st, applied);
	if (!rc)
		rc = config_get(st, applied);
	return rc == -ENOENT ? 0 : rc;
}

static int config_put(struct store *st, const struct store_applied *applied)
{
	struct config_row row = { .index = htole64(applied->config_index),
				  .version = htole32(1) };

	memcpy(row.bytes, applied->config, applied->config_len);
	return raw_put(st, TABLE_MEMBER, config_key, sizeof(config_key), &row,
		       CONFIG_HEAD + applied->config_len, 0);
}

int applied_put(struct store *st, const struct store_applied *applied,
		const struct store_applied *before)
{
	const struct applied_row row = {
		.index = htole64(applied->index),
		.term = htole64(applied->term),
		.change = htole64(applied->change),
		.version = htole32(APPLIED_VERSION),
	};
	int rc = raw_put(st, TABLE_MEMBER, applied_key, sizeof(applied_key),
			 &row, sizeof(row), 0);

	if (rc || applied->config_index == before->config_index)
		return rc;
	return config_put(st, applied);
}

int applied_del(struct store *st)
{
	int rc = raw_del(st, TABLE_MEMBER, applied_key, sizeof(applied_key));

	if (!rc || rc == -ENOENT)
		rc = raw_del(st, TABLE_MEMBER, config_key, sizeof(config_key));
	return rc == -ENOENT ? 0 : rc;
}
