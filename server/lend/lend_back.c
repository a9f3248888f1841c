/* SPDX-License-Identifier: BSD-2-Clause */
/* lend_back.c - taking back what is lent. */
#include <stdlib.h>

#include "common/util/clock.h"
#include "server/lend/lend_int.h"

/* Who does not see the cleared word set his mark before. */
static void look_inside(struct lends *lends, struct lend_session *ses,
			const bool *taken)
{
	bool marked[LENT_OBJECTS];
	unsigned int i;

	atomic_thread_fence(memory_order_seq_cst);
	lend_marked(&ses->files, marked);
	for (i = 0; i < LENT_OBJECTS; i++) {
		if (taken[i] && marked[i])
			lend_watch(lends, &ses->loan[i]);
		else if (taken[i])
			loan_done(&ses->loan[i]);
	}
}

static void take_back(struct lends *lends, struct lend_session *ses,
		      bool (*which)(const struct loan *loan, const void *arg),
		      const void *arg)
{
	bool taken[LENT_OBJECTS] = { false }, some = false;
	uint32_t i;

	for (i = 0; i < LENT_OBJECTS; i++) {
		if (!ses->loan[i].number || !which(&ses->loan[i], arg))
			continue;
		taken[i] = ses->loan[i].write;
		some |= taken[i];
		if (taken[i]) /* until it is known who is inside */
			lend_hold(lends, ses->loan[i].handle);
		loan_forget(lends, &ses->loan[i]);
	}
	if (some)
		look_inside(lends, ses, taken);
	for (i = 0; some && i < LENT_OBJECTS; i++)
		if (taken[i])
			lend_let(lends, ses->loan[i].handle);
}

static bool any(const struct loan *loan, const void *arg)
{
	return true;
}

static bool has_until(const struct loan *loan, const void *arg)
{
	return loan->until != UINT64_MAX;
}

static bool is_for_writing(const struct loan *loan, const void *arg)
{
	return loan->write;
}

static bool is_back(const struct loan *loan, const void *arg)
{
	const struct lent_marks *marks = arg;

	return atomic_load(&marks->back[loan_index(loan)]);
}

/* He may say so, and still be inside. */
void lend_reclaim(struct lends *lends, struct lend_session *ses)
{
	struct lent_marks marks;

	if (lend_marks_read(&ses->files, &marks))
		take_back(lends, ses, is_back, &marks);
}

void lend_end(struct lends *lends, uint64_t session)
{
	struct lend_session *ses;

	pthread_mutex_lock(&lends->lock);
	ses = lend_session_find(lends, session);
	if (ses) {
		HASH_DEL(lends->sessions, ses);
		take_back(lends, ses, any, NULL);
		lend_tell(lends, ses);
		ses->ended = true;
		if (lend_session_over(ses))
			lend_session_free(lends, ses);
	}
	pthread_mutex_unlock(&lends->lock);
}

void lends_recall(struct lends *lends, uint32_t era)
{
	struct lend_session *ses, *next;

	pthread_mutex_lock(&lends->lock);
	if (lends->era != era)
		HASH_ITER(hh, lends->sessions, ses, next)
			take_back(lends, ses, has_until, NULL);
	lends->era = era;
	pthread_mutex_unlock(&lends->lock);
}

/* What is written to it now is written to nothing, by whoever is inside. */
static void removed(struct lends *lends, uint64_t handle)
{
	struct loan *loan, *next;

	for (loan = LIST_FIRST(loan_bucket(lends, handle)); loan; loan = next) {
		next = LIST_NEXT(loan, link);
		if (loan->handle != handle)
			continue;
		loan_forget(lends, loan);
		loan_done(loan);
	}
}

void lend_removed(struct lends *lends, uint64_t handle)
{
	if (!atomic_load(&lends->count))
		return;
	pthread_mutex_lock(&lends->lock);
	removed(lends, handle);
	pthread_mutex_unlock(&lends->lock);
}

/* ---- setting aside ---- */

static bool is_of(const struct loan *loan, const void *handle)
{
	return loan->handle == *(const uint64_t *)handle;
}

static struct loan *find(struct lends *lends, uint64_t handle)
{
	struct loan *loan;

	LIST_FOREACH(loan, loan_bucket(lends, handle), link)
		if (loan->handle == handle)
			break;
	return loan;
}

/* Who stands still has done so for LEND_ASIDE_MS; who runs will have left by then. */
static bool may_be_told(const struct lends *lends, uint64_t handle)
{
	const struct loan *loan;
	uint64_t now = clock_now();

	TAILQ_FOREACH(loan, &lends->stuck, stuck_link)
		if (loan->handle == handle &&
		    (!loan->looks ||
		     now - loan->since < LEND_ASIDE_MS * CLOCK_NS_PER_MS))
			return false;
	return true;
}

static void tell(struct lends *lends, uint64_t handle)
{
	struct loan *loan;

	TAILQ_FOREACH(loan, &lends->stuck, stuck_link)
		if (loan->handle == handle)
			atomic_store(&loan->ses->files.terms->lent
					      .word[loan_index(loan)],
				     LENT_ASIDE);
	/* what is copied now has all that was written by who did not see it */
	atomic_thread_fence(memory_order_seq_cst);
}

/* Who is not seen inside sees that his word is cleared. */
bool lend_recall(struct lends *lends, uint64_t handle)
{
	struct loan *loan;

	while ((loan = find(lends, handle)))
		take_back(lends, loan->ses, is_of, &handle);
	if (!may_be_told(lends, handle))
		return false;
	tell(lends, handle);
	return true;
}

bool lend_is_stuck(const struct lends *lends, uint64_t handle)
{
	const struct loan *loan;

	TAILQ_FOREACH(loan, &lends->stuck, stuck_link)
		if (loan->handle == handle)
			return true;
	return lend_is_copied(lends, handle);
}

/* ---- who is inside now ---- */

#define BUSY_LOOKS 4u /* at a session's page each */

static bool is_busy(struct lends *lends, uint64_t handle)
{
	const struct loan *loan;
	unsigned int n = 0;

	LIST_FOREACH(loan, loan_bucket(lends, handle), link)
		if (loan->handle == handle && loan->write &&
		    (++n > BUSY_LOOKS ||
		     lend_inside(&loan->ses->files, loan_index(loan))))
			return true;
	return lend_is_stuck(lends, handle);
}

bool lend_busy(struct lends *lends, uint64_t handle)
{
	bool busy;

	if (!lend_held(lends, handle))
		return false;
	pthread_mutex_lock(&lends->lock);
	busy = is_busy(lends, handle);
	pthread_mutex_unlock(&lends->lock);
	return busy;
}

/* ---- what ends ---- */

struct ends {
	uint64_t now, next;
};

static bool has_ended(const struct loan *loan, const void *arg)
{
	struct ends *ends = (void *)(uintptr_t)arg;

	if (loan->until <= ends->now)
		return true;
	if (loan->until < ends->next)
		ends->next = loan->until;
	return false;
}

static void look_ends(struct lends *lends)
{
	struct ends ends = { clock_boot(), UINT64_MAX };
	struct lend_session *ses, *next;

	pthread_mutex_lock(&lends->lock);
	HASH_ITER(hh, lends->sessions, ses, next)
		take_back(lends, ses, has_ended, &ends);
	atomic_store(&lends->ends, ends.next);
	pthread_mutex_unlock(&lends->lock);
}

void lends_look(struct lends *lends)
{
	struct lend_session *ses, *next;

	if (atomic_load(&lends->ends) != UINT64_MAX &&
	    clock_boot() >= atomic_load(&lends->ends))
		look_ends(lends);
	if (!atomic_load(&lends->writers) ||
	    clock_boot() < gate_ends(store_gate(lends->attr.store)))
		return;
	pthread_mutex_lock(&lends->lock);
	HASH_ITER(hh, lends->sessions, ses, next)
		take_back(lends, ses, is_for_writing, NULL);
	pthread_mutex_unlock(&lends->lock);
}
