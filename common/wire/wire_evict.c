/* SPDX-License-Identifier: BSD-2-Clause */
/* wire_evict.c - checks of SESSIONS and EVICT. */
#include <string.h>

#include "common/wire/wire_form.h"

/* Printable text, padded with zeros. */
static bool is_text(const uint8_t *text, size_t max)
{
	size_t len = strnlen((const char *)text, max);

	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	for (size_t i = len; i < max; i++)
		if (text[i])
			return false;
	return true;
}

static const char *check_session(const struct wire_session *s)
{
	if (!s->id)
		return "wire_session.id: zero";
	if (le32toh(s->flags) & ~WIRE_SE_AWAY)
		return "wire_session.flags: unknown bits";
	if (s->zero)
		return "wire_session.zero: reserved, not zero";
	if (!is_text(s->job, sizeof(s->job)) ||
	    !is_text(s->name, sizeof(s->name)) ||
	    !is_text(s->peer, sizeof(s->peer)))
		return "wire_session: what does not print";
	return NULL;
}

const char *wire_check_sessions_rep(const struct wire_msg *msg)
{
	const struct wire_sessions_rep *rep = msg->body;
	const struct wire_session *s = msg->tail[0].ptr;
	size_t n = msg->tail[0].len / sizeof(*s);
	const char *why = NULL;

	for (size_t i = 0; !why && i < n; i++) {
		why = check_session(&s[i]);
		if (!why && i && le64toh(s[i].id) <= le64toh(s[i - 1].id))
			why = "wire_session.id: out of order";
	}
	if (!why && rep->more && !n)
		why = "wire_sessions_rep.more: without a session";
	return why;
}

const char *wire_check_evict(const struct wire_msg *msg)
{
	const struct wire_evict *body = msg->body;
	unsigned int by = le32toh(body->by);
	bool text = by == WIRE_EV_JOB || by == WIRE_EV_HOST;

	if (!body->session != (by != WIRE_EV_SESSION))
		return "wire_evict.session: zero, or of no use";
	if (body->uid && by != WIRE_EV_USER)
		return "wire_evict.uid: of no use";
	if (!msg->tail[0].len == text)
		return "wire_evict.len: no text, or of no use";
	return NULL;
}
