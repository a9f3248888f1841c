/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handle.c - handles as clients and iods know them.  In the database, handles are
 * numbers in the order in which they were issued, so that new rows are adjacent.
 * Outside, a handle is that number, encrypted with a key of this database, so that
 * nobody can find files by counting.  The cipher is Speck64/128 (Beaulieu et al.,
 * 2013); it takes less time than a row access.
 *
 * 0 means no handle on both sides.  A database without a key is from an earlier
 * version; its handles are not encrypted.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "mgr/db/db_int.h"

#define KEY_NAME "handle_key"

static uint32_t rotate_right(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static uint32_t rotate_left(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

void handle_cipher_init(struct handle_cipher *c, const uint32_t key[4])
{
	uint32_t l[3] = { key[1], key[2], key[3] }, k = key[0];

	for (uint32_t i = 0; i < HANDLE_ROUNDS; i++) {
		c->round[i] = k;
		l[i % 3] = (rotate_right(l[i % 3], 8) + k) ^ i;
		k = rotate_left(k, 3) ^ l[i % 3];
	}
}

uint64_t handle_encipher(const struct handle_cipher *c, uint64_t plain)
{
	uint32_t x = (uint32_t)(plain >> 32), y = (uint32_t)plain;

	for (int i = 0; i < HANDLE_ROUNDS; i++) {
		x = (rotate_right(x, 8) + y) ^ c->round[i];
		y = rotate_left(y, 3) ^ x;
	}
	return (uint64_t)x << 32 | y;
}

uint64_t handle_decipher(const struct handle_cipher *c, uint64_t text)
{
	uint32_t x = (uint32_t)(text >> 32), y = (uint32_t)text;

	for (int i = HANDLE_ROUNDS - 1; i >= 0; i--) {
		y = rotate_right(y ^ x, 3);
		x = rotate_left((x ^ c->round[i]) - y, 8);
	}
	return (uint64_t)x << 32 | y;
}

/* 0 must map to 0: the handle whose cipher text is 0 gets the cipher text of 0. */
uint64_t handle_external(const struct store *st, uint64_t handle)
{
	uint64_t text;

	if (!st->handles_keyed || !handle)
		return handle;
	text = handle_encipher(&st->handles, handle);
	return text ? text : handle_encipher(&st->handles, 0);
}

uint64_t handle_internal(const struct store *st, uint64_t shown)
{
	uint64_t handle;

	if (!st->handles_keyed || !shown)
		return shown;
	handle = handle_decipher(&st->handles, shown);
	return handle ? handle : handle_decipher(&st->handles, 0);
}

uint64_t handle_to_wire(const struct store *st, uint64_t handle)
{
	return htole64(handle_external(st, handle));
}

uint64_t handle_from_wire(const struct store *st, uint64_t wire)
{
	return handle_internal(st, le64toh(wire));
}

int handle_key_make(struct store *st)
{
	uint32_t key[4];

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -EIO;
	return meta_put(st, KEY_NAME, key, sizeof(key));
}

int handle_open(struct store *st)
{
	uint32_t key[4];
	int rc = meta_get(st, KEY_NAME, key, sizeof(key));

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	for (int i = 0; i < 4; i++)
		key[i] = le32toh(key[i]);
	handle_cipher_init(&st->handles, key);
	st->handles_keyed = true;
	return 0;
}
