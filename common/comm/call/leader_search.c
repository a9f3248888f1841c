/* SPDX-License-Identifier: BSD-2-Clause */
/* leader_search.c - see leader_search.h. */
#include "common/comm/call/leader_search.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

void leader_search_init(struct leader_search *s, const struct addr *mgr,
			unsigned int n)
{
	*s = (struct leader_search){
		.n = n, .next = -1, .excluded = -1, .try_ms = LEADER_TRY_MS
	};
	memcpy(s->mgr, mgr, n * sizeof(*mgr));
}

static unsigned int count_all(const struct leader_search *s)
{
	return s->n + s->has_named;
}

bool leader_search_has_choice(const struct leader_search *s)
{
	return count_all(s) > 1;
}

const struct addr *leader_search_chosen(const struct leader_search *s)
{
	return &s->mgr[s->at];
}

static void choose_manager(struct leader_search *s, unsigned int i)
{
	s->at = i;
	s->tried |= 1u << i;
}

static bool is_untried(const struct leader_search *s, int i)
{
	return i >= 0 && !(s->tried >> i & 1);
}

/* The first one that is neither tried nor in avoid; -1: none. */
static int find_except(const struct leader_search *s, unsigned int avoid)
{
	for (unsigned int i = 0; i < count_all(s); i++)
		if (!((s->tried | avoid) >> i & 1))
			return (int)i;
	return -1;
}

static int find_next(const struct leader_search *s)
{
	int i;

	if (is_untried(s, s->next))
		return s->next;
	if (is_untried(s, (int)s->first) && !(s->was_slow >> s->first & 1))
		return (int)s->first;
	i = find_except(s, s->was_slow);
	return i >= 0 ? i : find_except(s, 0);
}

void leader_search_begin(struct leader_search *s)
{
	s->searching = true;
	s->was_slow = s->slow;
	s->slow = 0;
	s->tried = s->excluded < 0 ? 0 : 1u << s->excluded;
	s->next = -1;
	s->status = 0;
	s->is_final = true;
	choose_manager(s, (unsigned int)find_next(s));
}

static void end_round(struct leader_search *s)
{
	unsigned int excluded = s->excluded < 0 ? 0 : 1u << s->excluded;
	bool all_slow = s->slow == (s->tried & ~excluded);
	bool leader_slow = s->next >= 0 && s->slow >> s->next & 1;

	s->searching = false;
	if (!all_slow && !leader_slow)
		s->try_ms = LEADER_TRY_MS;
	else if (s->try_ms < LEADER_TRY_MAX_MS * 2 / 3)
		s->try_ms += s->try_ms / 2;
	else
		s->try_ms = LEADER_TRY_MAX_MS;
}

/*
 * Keeps the status that best describes the round.  A manager that may answer later takes precedence
 * over one that rejects permanently; a manager that runs but does not lead takes precedence over
 * one that is down.
 */
static void note_status(struct leader_search *s, int status, bool is_final)
{
	if (s->status != -WIRE_ENOTLEADER &&
	    (!s->status || !is_final || s->is_final))
		s->status = status;
	s->is_final &= is_final;
}

bool leader_search_is_next(struct leader_search *s, int status, bool is_final)
{
	int next;

	if (status == -ETIMEDOUT || status == -EINPROGRESS)
		s->slow |= 1u << s->at;
	note_status(s, status, is_final);
	next = find_next(s);
	if (next < 0)
		end_round(s);
	else
		choose_manager(s, (unsigned int)next);
	return next >= 0;
}

/* The transport is our choice, so the name of the leader does not change it. */
static bool parse_name(const struct leader_search *s, const char *uri,
		       size_t len, struct addr *addr)
{
	char text[WIRE_LEADER_URI_MAX + 1];

	if (!len || len >= sizeof(text))
		return false;
	memcpy(text, uri, len);
	text[len] = '\0';
	if (addr_parse(text, 0, addr) || !addr->port || addr_is_any(addr))
		return false;
	memcpy(addr->scheme, s->mgr[0].scheme, sizeof(addr->scheme));
	return true;
}

static bool is_same(const struct addr *a, const struct addr *b)
{
	return a->port == b->port && !strcasecmp(a->host, b->host);
}

/* Returns its number.  If the list does not have it, it replaces the extra entry of the list. */
static unsigned int find_named(struct leader_search *s, const struct addr *addr)
{
	unsigned int i;

	for (i = 0; i < count_all(s); i++)
		if (is_same(&s->mgr[i], addr))
			return i;
	s->mgr[s->n] = *addr;
	s->has_named = true;
	return s->n;
}

void leader_search_take_name(struct leader_search *s, const char *uri,
			     size_t len)
{
	struct addr addr;

	if (!parse_name(s, uri, len, &addr))
		return;
	s->first = find_named(s, &addr);
	s->next = (int)s->first;
}

void leader_search_prefer(struct leader_search *s, const struct addr *addr)
{
	s->first = find_named(s, addr);
}

bool leader_search_exclude(struct leader_search *s, const struct addr *addr)
{
	s->excluded = (int)find_named(s, addr);
	return count_all(s) > 1;
}

void leader_search_found(struct leader_search *s, unsigned int ms)
{
	s->searching = false;
	s->slow = 0;
	s->first = s->at;
	s->try_ms = ms < LEADER_TRY_MS / 2	 ? LEADER_TRY_MS
		    : ms < LEADER_TRY_MAX_MS / 2 ? 2 * ms
						 : LEADER_TRY_MAX_MS;
}
