/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lend_evict.c - a descriptor that was lent cannot be taken back: what a session that is
 * evicted was lent is set aside, whatever its marks say.  What it gave back before counts, too,
 * as it may have kept that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lend_int.h"

#define HAD 4096u
#define EVICTED 512u /* more than come before the first of them has closed */

struct lend_had {
	uint64_t session, handle;
	bool write;
};

/* An object that is to be set aside. */
struct lend_copy {
	TAILQ_ENTRY(lend_copy) link;
	uint64_t handle, session;
	bool shut; /* nobody else comes to it */
	struct gate_entry entry;
};

int lend_had_open(struct lends *lends)
{
	TAILQ_INIT(&lends->copies);
	lends->had = calloc(HAD, sizeof(*lends->had));
	lends->evicted = calloc(EVICTED, sizeof(*lends->evicted));
	return lends->had && lends->evicted ? 0 : -ENOMEM;
}

void lend_had(struct lends *lends, const struct loan *loan)
{
	lends->had[lends->nhad++ % HAD] = (struct lend_had){
		.session = loan->ses->id,
		.handle = loan->handle,
		.write = loan->write,
	};
}

/* ---- which ---- */

static struct lend_copy *find(const struct lends *lends, uint64_t handle)
{
	struct lend_copy *copy;

	TAILQ_FOREACH(copy, &lends->copies, link)
		if (copy->handle == handle)
			break;
	return copy;
}

bool lend_is_copied(const struct lends *lends, uint64_t handle)
{
	return find(lends, handle);
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

/* What could only be read changes under nobody before its turn. */
static void add(struct lends *lends, uint64_t session, uint64_t handle,
		bool write)
{
	struct lend_copy *copy = find(lends, handle);

	if (!copy) {
		copy = calloc(1, sizeof(*copy));
		if (!copy) {
			log_error(lends->attr.log,
				  "no memory to set object %016llx aside, "
				  "which was lent to a session that is evicted",
				  (unsigned long long)handle);
			return;
		}
		copy->handle = handle;
		copy->session = session;
		TAILQ_INSERT_TAIL(&lends->copies, copy, link);
	}
	if (write)
		shut(lends, copy);
}

static void add_all(struct lends *lends, uint64_t session)
{
	const struct lend_session *ses = lend_session_find(lends, session);

	for (uint32_t i = 0; ses && i < LENT_OBJECTS; i++)
		if (ses->loan[i].number)
			add(lends, session, ses->loan[i].handle,
			    ses->loan[i].write);
	for (uint32_t i = 0; i < HAD; i++)
		if (lends->had[i].session == session)
			add(lends, session, lends->had[i].handle,
			    lends->had[i].write);
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

/* ---- setting them aside ---- */

static void done(struct lends *lends, struct lend_copy *copy)
{
	TAILQ_REMOVE(&lends->copies, copy, link);
	if (copy->shut) {
		lend_let(lends, copy->handle);
		gate_leave(store_gate(lends->attr.store), &copy->entry);
	}
	free(copy);
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
	else
		log_warn(lends->attr.log,
			 "object %016llx: cannot be set aside by a copy: %s; "
			 "the program of session %016llx, which is evicted, "
			 "may keep it open past this iod: end the program, or "
			 "copy the file and remove it",
			 (unsigned long long)copy->handle, strerror(-rc),
			 (unsigned long long)copy->session);
}

void lend_copy_next(struct lends *lends)
{
	struct lend_copy *copy = TAILQ_FIRST(&lends->copies);
	int rc;

	if (!copy)
		return;
	shut(lends, copy);
	rc = lend_set_aside(lends, copy->handle);
	if (rc == -EAGAIN || rc == -ECANCELED)
		return;
	say(lends, copy, rc);
	done(lends, copy);
}

void lend_had_close(struct lends *lends)
{
	while (!TAILQ_EMPTY(&lends->copies))
		done(lends, TAILQ_FIRST(&lends->copies));
	free(lends->had);
	free(lends->evicted);
}
