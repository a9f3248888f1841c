/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend_evict.c - a descriptor that was lent cannot be taken back: what a session that is
 * evicted was lent is set aside, whatever its marks say.  What it gave back before counts, too,
 * as it may have kept that.
 *
 *	FENCE ---> copies ---------------------------> done
 *	              |  no room                        ^
 *	              +---------> kept, tried again ----+
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "server/lend/lend_int.h"

#define EVICTED 512u /* more than come before the first of them has closed */

/* An object that is to be set aside. */
struct lend_copy {
	TAILQ_ENTRY(lend_copy) link; /* of copies, or kept */
	UT_hash_handle hh;
	uint64_t handle, session;
	struct lend_session *ses; /* whose files tell of it, or NULL */
	bool shut; /* nobody else comes to it */
	bool kept;
	struct gate_entry entry;
};

int lend_evict_open(struct lends *lends)
{
	TAILQ_INIT(&lends->copies);
	TAILQ_INIT(&lends->kept);
	lends->evicted = calloc(EVICTED, sizeof(*lends->evicted));
	return lends->evicted ? 0 : -ENOMEM;
}

/* ---- which ---- */

static struct lend_copy *find(const struct lends *lends, uint64_t handle)
{
	struct lend_copy *copy;

	HASH_FIND(hh, lends->copied, &handle, sizeof(handle), copy);
	return copy;
}

bool lend_is_copied(const struct lends *lends, uint64_t handle)
{
	const struct lend_copy *copy = find(lends, handle);

	return copy && !copy->kept;
}

static void shut(struct lends *lends, struct lend_copy *copy)
{
	if (copy->shut)
		return;
	copy->shut = true;
	lend_hold(lends, copy->handle);
	gate_enter_late(store_gate(lends->attr.store), copy->handle, 1,
			&copy->entry);
}

static void let(struct lends *lends, struct lend_copy *copy)
{
	if (!copy->shut)
		return;
	copy->shut = false;
	lend_let(lends, copy->handle);
	gate_leave(store_gate(lends->attr.store), &copy->entry);
}

static struct lend_copy *make(struct lends *lends, uint64_t session,
			      uint64_t handle)
{
	struct lend_copy *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	copy->handle = handle;
	copy->session = session;
	HASH_ADD(hh, lends->copied, handle, sizeof(copy->handle), copy);
	if (!copy->hh.tbl) {
		free(copy);
		return NULL;
	}
	copy->ses = lend_session_find(lends, session);
	if (copy->ses)
		copy->ses->copies++;
	TAILQ_INSERT_TAIL(&lends->copies, copy, link);
	return copy;
}

/* What could only be read changes under nobody before its turn. */
static void add(struct lends *lends, uint64_t session, uint64_t handle,
		bool write)
{
	struct lend_copy *copy = find(lends, handle);

	if (!copy)
		copy = make(lends, session, handle);
	if (copy && copy->session == session)
		lend_had_evicted(lends, session, handle);
	if (!copy)
		log_error(lends->attr.log,
			  "no memory to set object %016llx aside, "
			  "which was lent to a session that is evicted",
			  (unsigned long long)handle);
	else if (write && !copy->kept)
		shut(lends, copy);
}

static void add_all(struct lends *lends, uint64_t session)
{
	const struct lend_session *ses = lend_session_find(lends, session);

	for (uint32_t i = 0; ses && i < LENT_OBJECTS; i++)
		if (ses->loan[i].number)
			add(lends, session, ses->loan[i].handle,
			    ses->loan[i].write);
	lend_had_each(lends, session, add);
}

void lend_evict_again(struct lends *lends)
{
	lend_had_each_evicted(lends, add);
}

bool lend_is_evicted(const struct lends *lends, uint64_t session)
{
	for (uint32_t i = 0; i < EVICTED; i++)
		if (lends->evicted[i] == session)
			return true;
	return false;
}

/* It may ask until all workers know; and a FENCE may come twice, with all copied before. */
static void evict(struct lends *lends, uint64_t session)
{
	if (lend_is_evicted(lends, session))
		return;
	lends->evicted[lends->nevicted++ % EVICTED] = session;
	add_all(lends, session);
	pthread_cond_signal(&lends->changed);
}

/* On a disk nothing is lent for writing, nor to who could not end this process. */
void lend_evict(struct lends *lends, uint64_t session)
{
	if (!store_in_memory(lends->attr.store))
		return;
	pthread_mutex_lock(&lends->lock);
	evict(lends, session);
	pthread_mutex_unlock(&lends->lock);
}

bool lend_evicts(struct lends *lends)
{
	bool evicts;

	pthread_mutex_lock(&lends->lock);
	evicts = !TAILQ_EMPTY(&lends->copies);
	pthread_mutex_unlock(&lends->lock);
	return evicts;
}

unsigned int lends_kept(const struct lends *lends)
{
	return atomic_load(&lends->nkept);
}

/* ---- setting them aside ---- */

static void remove_from(struct lends *lends, struct lend_copy *copy)
{
	if (copy->kept) {
		TAILQ_REMOVE(&lends->kept, copy, link);
		atomic_fetch_sub(&lends->nkept, 1);
	} else {
		TAILQ_REMOVE(&lends->copies, copy, link);
	}
}

static void done(struct lends *lends, struct lend_copy *copy, lend_end_fn *end)
{
	struct lend_session *ses = copy->ses;

	remove_from(lends, copy);
	HASH_DELETE(hh, lends->copied, copy);
	let(lends, copy);
	if (ses)
		ses->copies--;
	if (ses && lend_session_over(ses))
		end(lends, ses);
	free(copy);
}

/* Others have it meanwhile. */
static void keep(struct lends *lends, struct lend_copy *copy)
{
	let(lends, copy);
	remove_from(lends, copy);
	copy->kept = true;
	TAILQ_INSERT_TAIL(&lends->kept, copy, link);
	atomic_fetch_add(&lends->nkept, 1);
	lends->again = clock_after_ms(LEND_KEPT_MS);
}

static void say(const struct lends *lends, const struct lend_copy *copy, int rc)
{
	if (!rc)
		log_info(lends->attr.log,
			 "object %016llx: set aside by a copy, as it was lent "
			 "to session %016llx, which is evicted; nothing needs "
			 "doing",
			 (unsigned long long)copy->handle,
			 (unsigned long long)copy->session);
	else if (!copy->kept)
		log_warn(lends->attr.log,
			 "object %016llx: cannot be set aside by a copy: %s; "
			 "the program of session %016llx, which is evicted, "
			 "may keep it open past this iod until it can: free "
			 "some space, end the program, or copy the file and "
			 "remove it",
			 (unsigned long long)copy->handle, strerror(-rc),
			 (unsigned long long)copy->session);
}

/* True: it is in its place. */
static bool try(struct lends *lends, struct lend_copy *copy)
{
	int rc;

	shut(lends, copy);
	rc = lend_set_aside(lends, copy->handle);
	if (rc == -ECANCELED) /* we end */
		return false;
	if (rc == -EAGAIN && !copy->kept) {
		/* somebody is inside for some time yet, and not of others */
		TAILQ_REMOVE(&lends->copies, copy, link);
		TAILQ_INSERT_TAIL(&lends->copies, copy, link);
		return false;
	}
	say(lends, copy, rc);
	if (rc) {
		keep(lends, copy);
	} else {
		lend_had_over(lends, copy->session, copy->handle);
		done(lends, copy, lend_session_free);
	}
	return !rc;
}

bool lend_copy_next(struct lends *lends)
{
	struct lend_copy *copy = TAILQ_FIRST(&lends->copies);

	if (copy)
		return try(lends, copy);
	copy = TAILQ_FIRST(&lends->kept);
	return copy && clock_now() >= lends->again && try(lends, copy);
}

/* What is not done the next process does. */
static void end_all(struct lends *lends, struct lend_copies *copies)
{
	struct lend_copy *copy;

	while ((copy = TAILQ_FIRST(copies))) {
		if (copy->ses)
			copy->ses->stays = true;
		done(lends, copy, lend_session_leave);
	}
}

void lend_evict_close(struct lends *lends)
{
	end_all(lends, &lends->copies);
	end_all(lends, &lends->kept);
	free(lends->evicted);
}
