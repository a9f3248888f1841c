/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket.c - see ticket.h. */
#include "common/trust/ticket.h"

#include <errno.h>
#include <string.h>

#include "common/trust/seal_int.h"

#define LABEL "pvfs ticket 1"

/* clang-format off */
struct ticket_wire {
	struct seal_head head;
	le32 uid, gid;
	le32 ngroups;
	le32 zero;
	uint8_t client[TICKET_CLIENT_LEN];
	le32 groups[];
};
/* clang-format on */

_Static_assert(sizeof(struct ticket_wire) == 88, "no padding");
_Static_assert(sizeof(struct ticket_wire) + WIRE_GROUPS_MAX * sizeof(le32) +
			       MAC_LEN <=
		       TICKET_MAX,
	       "the longest ticket");

size_t ticket_len(uint32_t ngroups)
{
	return sizeof(struct ticket_wire) + ngroups * sizeof(le32) + MAC_LEN;
}

static void ticket_encode(struct ticket_wire *w, const struct ticket *t)
{
	seal_begin(&w->head, &t->bounds);
	w->uid = htole32(t->uid);
	w->gid = htole32(t->gid);
	w->ngroups = htole32(t->ngroups);
	memcpy(w->client, t->client, sizeof(w->client));
	for (uint32_t i = 0; i < t->ngroups; i++)
		w->groups[i] = htole32(t->groups[i]);
}

int ticket_seal(struct keyring *ring, const struct ticket *ticket, void *out,
		size_t room)
{
	le64 buf[TICKET_MAX / sizeof(le64)] = { 0 };
	struct ticket_wire *w = (void *)buf;
	size_t len;

	if (ticket->ngroups > WIRE_GROUPS_MAX)
		return -EINVAL;
	len = ticket_len(ticket->ngroups);
	if (len > room)
		return -EMSGSIZE;
	ticket_encode(w, ticket);
	seal_close(ring, LABEL, &w->head, len - MAC_LEN);
	memcpy(out, buf, len);
	return (int)len;
}

static void ticket_decode(struct ticket *t, const struct ticket_wire *w)
{
	t->uid = le32toh(w->uid);
	t->gid = le32toh(w->gid);
	t->ngroups = le32toh(w->ngroups);
	memcpy(t->client, w->client, sizeof(t->client));
	for (uint32_t i = 0; i < t->ngroups; i++)
		t->groups[i] = le32toh(w->groups[i]);
}

int ticket_open(struct keyring *ring, const void *sealed, size_t len,
		const struct token_context *here, struct ticket *ticket)
{
	le64 buf[TICKET_MAX / sizeof(le64)] = { 0 };
	const struct ticket_wire *w = (const void *)buf;
	struct ticket t = { 0 };
	int rc;

	if (len < ticket_len(0) || len > sizeof(buf))
		return -EBADMSG;
	memcpy(buf, sealed, len);
	if (le32toh(w->ngroups) > WIRE_GROUPS_MAX ||
	    len != ticket_len(le32toh(w->ngroups)) || w->zero)
		return -EBADMSG;
	rc = seal_check(ring, LABEL, buf, len, &t.bounds);
	if (!rc)
		rc = token_limits_check(&t.bounds, here);
	if (rc)
		return rc;
	ticket_decode(&t, w);
	*ticket = t;
	return 0;
}

int ticket_secret(struct keyring *ring, const void *sealed, size_t len,
		  uint8_t out[MAC_KEY_LEN])
{
	const struct mac_field field = { sealed, len };
	le32 id;

	_Static_assert(MAC_KEY_LEN == MAC_LEN, "a code is a key");
	if (len < ticket_len(0) || len > TICKET_MAX)
		return -EBADMSG;
	memcpy(&id, sealed, sizeof(id)); /* seal_head.key */
	return keyring_derive(ring, le32toh(id), "pvfs ticket secret 1", &field,
			      1, out);
}
