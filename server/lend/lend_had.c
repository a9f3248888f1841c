/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend_had.c - what sessions are lent, and were: they may have kept it.  An object
 * counts once in a session, so one that comes and goes takes no other's place.  It is
 * noted before it is lent, so the next process knows it as well.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/lend/lend_int.h"

#define HAD_MAX 65536u /* then the first ones are forgotten */

struct had_key {
	uint64_t session, handle;
};

/* In the order in which they were lent, or came back. */
struct lend_had {
	struct had_key key;
	uint32_t flags; /* LEND_NOTE_*, as noted */
	uint32_t slot; /* of its note, for as long as this is there */
	UT_hash_handle hh;
	LIST_ENTRY(lend_had) link; /* of its session's bucket, or the spare */
};

static struct lend_hads *bucket(struct lends *lends, uint64_t session)
{
	return &lends->had_of[session % LEND_BUCKETS];
}

static struct lend_had *find(const struct lends *lends, uint64_t session,
			     uint64_t handle)
{
	const struct had_key key = { session, handle };
	struct lend_had *had;

	HASH_FIND(hh, lends->had, &key, sizeof(key), had);
	return had;
}

static void spare(struct lends *lends, struct lend_had *had)
{
	LIST_INSERT_HEAD(&lends->had_spare, had, link);
}

/* Its note stays until another one takes its place. */
static void forget(struct lends *lends, struct lend_had *had)
{
	HASH_DEL(lends->had, had);
	LIST_REMOVE(had, link);
	spare(lends, had);
}

static struct lend_had *make(struct lends *lends)
{
	struct lend_had *had = calloc(1, sizeof(*had));

	if (had)
		had->slot = lends->had_slots++;
	return had;
}

static struct lend_had *take_spare(struct lends *lends)
{
	struct lend_had *had;

	if (HASH_COUNT(lends->had) == HAD_MAX)
		forget(lends, lends->had);
	had = LIST_FIRST(&lends->had_spare);
	if (had)
		LIST_REMOVE(had, link);
	return had ? had : make(lends);
}

static int put(struct lends *lends, struct lend_had *had,
	       const struct had_key *key, uint32_t flags)
{
	had->key = *key;
	had->flags = flags;
	HASH_ADD(hh, lends->had, key, sizeof(had->key), had);
	if (!had->hh.tbl) {
		spare(lends, had);
		return -ENOMEM;
	}
	LIST_INSERT_HEAD(bucket(lends, key->session), had, link);
	return 0;
}

static int note(struct lends *lends, const struct lend_had *had)
{
	const struct lend_note note = { .session = had->key.session,
					.handle = had->key.handle,
					.flags = had->flags };

	return lend_note_put(lends->had_fd, had->slot, &note);
}

static int add(struct lends *lends, const struct had_key *key, uint32_t flags)
{
	struct lend_had *had = take_spare(lends);
	int rc = had ? put(lends, had, key, flags) : -ENOMEM;

	if (rc)
		return rc;
	rc = note(lends, had);
	if (rc)
		forget(lends, had);
	return rc;
}

/* It is the last one now. */
static int again(struct lends *lends, struct lend_had *had, uint32_t flags)
{
	const struct had_key key = had->key;
	uint32_t before = had->flags;

	HASH_DEL(lends->had, had);
	LIST_REMOVE(had, link);
	if (put(lends, had, &key, before | flags))
		return -ENOMEM;
	return had->flags == before ? 0 : note(lends, had);
}

int lend_has(struct lends *lends, uint64_t session, uint64_t handle, bool write)
{
	const struct had_key key = { session, handle };
	struct lend_had *had = find(lends, session, handle);
	uint32_t flags = write ? LEND_NOTE_WRITE : 0;

	return had ? again(lends, had, flags) : add(lends, &key, flags);
}

void lend_had(struct lends *lends, uint64_t session, uint64_t handle,
	      bool write)
{
	int rc = lend_has(lends, session, handle, write);

	if (rc)
		log_error(lends->attr.log,
			  "cannot keep in mind that object %016llx was lent to "
			  "session %016llx: %s: pvfs-evict will not set it "
			  "aside",
			  (unsigned long long)handle,
			  (unsigned long long)session, strerror(-rc));
}

void lend_had_evicted(struct lends *lends, uint64_t session, uint64_t handle)
{
	struct lend_had *had = find(lends, session, handle);

	if (!had)
		return;
	had->flags |= LEND_NOTE_EVICTED;
	note(lends, had);
}

void lend_had_over(struct lends *lends, uint64_t session, uint64_t handle)
{
	static const struct lend_note none;
	struct lend_had *had = find(lends, session, handle);

	if (!had)
		return;
	lend_note_put(lends->had_fd, had->slot, &none);
	forget(lends, had);
}

void lend_had_each(struct lends *lends, uint64_t session, lend_had_fn *fn)
{
	const struct lend_had *had;

	LIST_FOREACH(had, bucket(lends, session), link)
		if (had->key.session == session)
			fn(lends, session, had->key.handle,
			   had->flags & LEND_NOTE_WRITE);
}

void lend_had_each_evicted(struct lends *lends, lend_had_fn *fn)
{
	const struct lend_had *had;

	for (had = lends->had; had; had = had->hh.next)
		if (had->flags & LEND_NOTE_EVICTED)
			fn(lends, had->key.session, had->key.handle,
			   had->flags & LEND_NOTE_WRITE);
}

/* ---- the process before ---- */

static int take_up(struct lends *lends, const struct lend_note *note)
{
	const struct had_key key = { note->session, note->handle };
	struct lend_had *had = make(lends);

	if (!had)
		return -ENOMEM;
	if (note->handle && !find(lends, key.session, key.handle))
		return put(lends, had, &key, note->flags);
	spare(lends, had);
	return 0;
}

int lend_had_open(struct lends *lends)
{
	struct lend_note note;
	int rc = 0;

	if (!store_in_memory(lends->attr.store))
		return 0;
	lends->had_fd = lend_notes_open(lends->dirfd);
	if (lends->had_fd < 0)
		return lends->had_fd;
	while (!rc && lends->had_slots < HAD_MAX) {
		rc = lend_note_get(lends->had_fd, lends->had_slots, &note);
		if (!rc)
			rc = take_up(lends, &note);
	}
	return rc == -ENOENT ? 0 : rc;
}

void lend_had_close(struct lends *lends)
{
	struct lend_had *had;

	while (lends->had)
		forget(lends, lends->had);
	while ((had = LIST_FIRST(&lends->had_spare))) {
		LIST_REMOVE(had, link);
		free(had);
	}
	if (lends->had_fd >= 0)
		close(lends->had_fd);
}
