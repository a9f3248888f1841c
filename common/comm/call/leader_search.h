/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leader_search.h - the managers of a file system, of which one leads: which of them to try next.
 * Knows neither connections nor clocks.
 *
 *	leader_search_begin()		a round starts, at the manager that led last
 *	  leader_search_is_next()	another one is left, which is chosen; or the round ends
 *	leader_search_found()		the chosen one leads
 *
 * Each manager is tried at most once in a round.  A refusal that names the leader makes it the
 * next one, or, if this round has tried it already, the first of the next round.  So managers that
 * name each other cannot keep a client busy.
 *
 * A manager has try_ms to answer, LEADER_TRY_MS at first.  The limit grows if all managers are
 * slower, or if the one that others name as the leader is.  A manager that did not answer in time
 * is tried last in the next round: its host may be down.
 */
#ifndef LEADER_SEARCH_H
#define LEADER_SEARCH_H

#include <stdbool.h>

#include "common/util/addr.h"
#include "common/wire/wire.h"

#define LEADER_TRY_MS 100u
#define LEADER_TRY_MAX_MS 2000u

struct leader_search {
	/* those of the list, then one that a refusal named and the list lacks */
	struct addr mgr[WIRE_MGR_MAX + 1];
	unsigned int n; /* of the list */
	bool has_named; /* mgr[n] is set */
	unsigned int at; /* the chosen one */
	unsigned int first; /* starts the next round */
	int next; /* a refusal named it in this round; -1: none */
	int excluded; /* never tried; -1: none */
	unsigned int tried; /* bit i: mgr[i], in this round */
	unsigned int slow,
		was_slow; /* ... no answer in time; the round before */
	bool searching; /* in a round */
	unsigned int try_ms;
	int status; /* why this round has found none so far */
	bool is_final; /* all that were tried in this round refused permanently */
};

/* Between 1 and WIRE_MGR_MAX addresses. */
void leader_search_init(struct leader_search *s, const struct addr *mgr,
			unsigned int n);
/* Whether there is a choice.  Otherwise no manager has a limit of time. */
bool leader_search_has_choice(const struct leader_search *s);
const struct addr *leader_search_chosen(const struct leader_search *s);
/* Chooses the first manager of a round. */
void leader_search_begin(struct leader_search *s);
/*
 * The chosen manager failed with status; -ETIMEDOUT, -EINPROGRESS: it did not answer in time.
 * is_final: another attempt will not help.  Then either chooses the next manager and returns true,
 * or ends the round: s->status and s->is_final are its result.
 */
bool leader_search_is_next(struct leader_search *s, int status, bool is_final);
/* The chosen manager refused us, and named this leader: the unchecked tail of WIRE_ENOTLEADER. */
void leader_search_take_name(struct leader_search *s, const char *uri,
			     size_t len);
/* The next round starts with the manager at addr. */
void leader_search_prefer(struct leader_search *s, const struct addr *addr);
/*
 * Rounds leave the manager at addr out, also if others name it as the leader.  Returns false if no
 * other manager is left.
 */
bool leader_search_exclude(struct leader_search *s, const struct addr *addr);
/* The chosen manager accepted us, ms after it was chosen. */
void leader_search_found(struct leader_search *s, unsigned int ms);

#endif
