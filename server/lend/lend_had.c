/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend_had.c - what sessions were lent, and gave back: they may have kept it.  An object
 * counts once in a session, so one that comes and goes takes no other's place.
 */
#include <stdlib.h>

#include "lend_int.h"

#define HAD_MAX 65536u /* then the first ones are forgotten */

struct had_key {
	uint64_t session, handle;
};

/* In the order of their ends. */
struct lend_had {
	struct had_key key;
	bool write;
	UT_hash_handle hh;
	LIST_ENTRY(lend_had) link; /* of its session's bucket */
};

static struct lend_hads *bucket(struct lends *lends, uint64_t session)
{
	return &lends->had_of[session % LEND_BUCKETS];
}

static void forget(struct lends *lends, struct lend_had *had)
{
	HASH_DEL(lends->had, had);
	LIST_REMOVE(had, link);
	free(had);
}

static struct lend_had *find(const struct lends *lends,
			     const struct had_key *key)
{
	struct lend_had *had;

	HASH_FIND(hh, lends->had, key, sizeof(*key), had);
	return had;
}

static int add(struct lends *lends, const struct had_key *key, bool write)
{
	struct lend_had *had = calloc(1, sizeof(*had));

	if (!had)
		return -1;
	had->key = *key;
	had->write = write;
	HASH_ADD(hh, lends->had, key, sizeof(had->key), had);
	if (!had->hh.tbl) {
		free(had);
		return -1;
	}
	LIST_INSERT_HEAD(bucket(lends, key->session), had, link);
	return 0;
}

void lend_had(struct lends *lends, uint64_t session, uint64_t handle,
	      bool write)
{
	const struct had_key key = { session, handle };
	struct lend_had *had = find(lends, &key);

	if (had) { /* it is the last one now */
		write |= had->write;
		forget(lends, had);
	}
	if (add(lends, &key, write))
		log_error(lends->attr.log,
			  "no memory to keep in mind that object %016llx was "
			  "lent to session %016llx: pvfs-evict will not set "
			  "it aside",
			  (unsigned long long)handle,
			  (unsigned long long)session);
	if (HASH_COUNT(lends->had) > HAD_MAX)
		forget(lends, lends->had);
}

void lend_had_each(struct lends *lends, uint64_t session,
		   void (*fn)(struct lends *lends, uint64_t session,
			      uint64_t handle, bool write))
{
	const struct lend_had *had;

	LIST_FOREACH(had, bucket(lends, session), link)
		if (had->key.session == session)
			fn(lends, session, had->key.handle, had->write);
}

void lend_had_close(struct lends *lends)
{
	while (lends->had)
		forget(lends, lends->had);
}
