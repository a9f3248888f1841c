/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * partings.c - "parted" and a position in the ring -> number and session, among the
 * named values. A store of an earlier release has no table for them.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "mgr/db/partings.h"

#define NAME "parted"
#define NAME_LEN (sizeof(NAME) - 1)

struct record {
	uint64_t n;
	uint64_t session, until, term, life;
	uint32_t version, zero;
};
_Static_assert(sizeof(struct record) == 48, "parting");

int parting_put(struct store *st, uint64_t n, const struct parting *parting)
{
	const struct record r = { .n = htole64(n),
				  .session = htole64(parting->session),
				  .until = htole64(parting->until),
				  .term = htole64(parting->term),
				  .life = htole64(parting->life),
				  .version = htole32(1) };
	uint8_t key[NAME_LEN + 8] = NAME;

	key_u64(key + NAME_LEN, n % PARTINGS_MAX);
	return store_put(st, STORE_META, key, sizeof(key), &r, sizeof(r));
}

static bool is_one(const struct store_iter *it)
{
	return it->klen == NAME_LEN + 8 && !memcmp(it->key, NAME, NAME_LEN);
}

static int decode(const struct store_iter *it, uint64_t *n,
		  struct parting *parting)
{
	struct record r;

	if (!is_one(it))
		return -ENOENT;
	if (it->len == sizeof(r))
		memcpy(&r, it->val, sizeof(r));
	if (it->len != sizeof(r) || le32toh(r.version) != 1 ||
	    le64toh(r.n) % PARTINGS_MAX != key_get_u64(it->key + NAME_LEN)) {
		log_error(store_log(it->st), "parted session: damaged record");
		return -EIO;
	}
	*n = le64toh(r.n);
	*parting = (struct parting){ .session = le64toh(r.session),
				     .until = le64toh(r.until),
				     .term = le64toh(r.term),
				     .life = le64toh(r.life) };
	return 0;
}

int parting_walk(struct store *st,
		 int (*fn)(void *arg, uint64_t n,
			   const struct parting *parting),
		 void *arg)
{
	struct parting parting;
	struct store_iter it;
	uint64_t n;
	int rc = store_iter_open(st, STORE_META, NAME, NAME_LEN, &it);

	if (rc)
		return rc;
	while (!(rc = store_iter_next(&it))) {
		rc = decode(&it, &n, &parting);
		if (!rc)
			rc = fn(arg, n, &parting);
		if (rc)
			break;
	}
	store_iter_close(&it);
	return rc == -ENOENT ? 0 : rc;
}
