/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash.c - the hash that orders names in a directory: SipHash-1-3 (Aumasson, Bernstein,
 * 2012) with a key of this file system, so that nobody can make colliding names.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "mgr/db/db_int.h"

#define HASH_MIN 3u /* cookies 1 and 2 are "." and ".." */

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotl(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = rotl(s->v1, 13) ^ s->v0;
	s->v3 = rotl(s->v3, 16) ^ s->v2;
	s->v0 = rotl(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = rotl(s->v1, 17) ^ s->v2;
	s->v3 = rotl(s->v3, 21) ^ s->v0;
	s->v2 = rotl(s->v2, 32);
}

static void sip_block(struct sip *s, uint64_t m)
{
	s->v3 ^= m;
	sip_round(s);
	s->v0 ^= m;
}

static uint64_t load(const uint8_t *p, size_t n)
{
	uint64_t le = 0;

	memcpy(&le, p, n);
	return le64toh(le);
}

static uint64_t siphash13(const uint64_t key[2], const uint8_t *p, size_t len)
{
	struct sip s = { key[0] ^ 0x736f6d6570736575u,
			 key[1] ^ 0x646f72616e646f6du,
			 key[0] ^ 0x6c7967656e657261u,
			 key[1] ^ 0x7465646279746573u };
	size_t i;

	for (i = 0; i + 8 <= len; i += 8)
		sip_block(&s, load(p + i, 8));
	sip_block(&s, load(p + i, len - i) | (uint64_t)len << 56);
	s.v2 ^= 0xff;
	for (i = 0; i < 3; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

uint64_t store_hash(const struct store *st, const void *name, size_t len)
{
	uint64_t h = siphash13(st->hash_key, name, len) >> 1;

	return h < HASH_MIN ? h + HASH_MIN : h;
}

int hash_open(struct store *st)
{
	uint64_t key[2];
	int rc;

	rc = meta_get(st, "hash_key", st->hash_key, sizeof(st->hash_key));
	if (rc != -ENOENT)
		return rc;
	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return -errno;
	rc = store_begin(st);
	if (rc)
		return rc;
	rc = meta_put(st, "hash_key", key, sizeof(key));
	if (rc) {
		store_abort(st);
		return rc;
	}
	memcpy(st->hash_key, key, sizeof(key));
	return store_commit(st);
}
