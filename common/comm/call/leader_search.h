/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leader_search.h - chooses which of several managers a client tries next, until it finds the one
 * that leads.  Uses neither connections nor clocks.
 *
 *	leader_search_begin()		a round starts with the manager that led last
 *	  leader_search_is_next()	the chosen one failed: chooses another, or ends the round
 *	leader_search_found()		the chosen one leads
 *
 * A round tries each manager at most once.  A manager that does not lead may name the leader in its
 * refusal.  The named manager is then the next of this round.  If the round has tried it already,
 * it becomes the first of the next round.  So managers that name each other cannot keep a client
 * busy.
 *
 * A manager has try_ms to answer, LEADER_TRY_MS at first.  The limit grows if all managers are
 * slower, or if the named leader is slower.  The next round tries a manager that did not answer in
 * time last, because its host may be down.
 */
#ifndef LEADER_SEARCH_H
#define LEADER_SEARCH_H

#include <stdbool.h>

#include "common/util/addr.h"
#include "common/wire/wire.h"

#define LEADER_TRY_MS 100u
#define LEADER_TRY_MAX_MS 2000u

struct leader_search {
	/*
	 * the n managers of pvfstab; then, if has_named, a leader that a refusal named and that
	 * pvfstab does not have
	 */
	struct addr mgr[WIRE_MGR_MAX + 1];
	unsigned int n; /* number of managers in pvfstab */
	bool has_named; /* mgr[n] is set */
	unsigned int at; /* index of the chosen manager */
	/* index of the manager that starts the next round */
	unsigned int first;
	/* index of the manager that a refusal named in this round; -1 if none */
	int next;
	int excluded; /* index of the manager that is never tried; -1 if none */
	unsigned int tried; /* bit i is set if mgr[i] was tried in this round */
	unsigned int slow,
		was_slow; /* ... no answer in time; the round before */
	bool searching; /* a round is in progress */
	unsigned int try_ms;
	int status; /* why this round has found no leader so far */
	/* all managers that were tried in this round refused permanently */
	bool is_final;
};

/* Initialises s with n addresses, 1 to WIRE_MGR_MAX. */
void leader_search_init(struct leader_search *s, const struct addr *mgr,
			unsigned int n);
/* Returns whether there are several managers.  A single one has no time limit. */
bool leader_search_has_choice(const struct leader_search *s);
const struct addr *leader_search_chosen(const struct leader_search *s);
/* Chooses the first manager of a round. */
void leader_search_begin(struct leader_search *s);
/*
 * Called when the chosen manager failed with status. With -ETIMEDOUT and -EINPROGRESS, it did not
 * answer in time. is_final means that another attempt with it will not help. Chooses the next
 * manager and returns true. If none is left, ends the round with the result s->status and
 * s->is_final, and returns false.
 */
bool leader_search_is_next(struct leader_search *s, int status, bool is_final);
/* Called when the chosen manager does not lead. uri is the unchecked tail of WIRE_ENOTLEADER. */
void leader_search_take_name(struct leader_search *s, const char *uri,
			     size_t len);
/* Makes the next round start with the manager at addr. */
void leader_search_prefer(struct leader_search *s, const struct addr *addr);
/*
 * Excludes the manager at addr from all rounds, even if others name it as the leader.  Returns
 * false if there is no other manager.
 */
bool leader_search_exclude(struct leader_search *s, const struct addr *addr);
/* Called when the chosen manager accepted us, ms milliseconds after it was chosen. */
void leader_search_found(struct leader_search *s, unsigned int ms);

#endif
