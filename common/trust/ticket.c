/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket.c - see ticket.h. */
#include "common/trust/ticket.h"

#include <errno.h>
#include <string.h>

#include "common/trust/handshake_int.h"
#include "common/trust/sealing.h"
#include "common/trust/token_int.h"

/* ---- the ticket ---- */

#define LABEL "pvfs ticket 1"

/* clang-format off */
struct ticket_wire {
	struct token_head head;
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
	token_begin(&w->head, &t->limits);
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
	token_close(ring, LABEL, &w->head, len - MAC_LEN);
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
	rc = token_check(ring, LABEL, buf, len, &t.limits);
	if (!rc)
		rc = token_limits_check(&t.limits, here);
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
	memcpy(&id, sealed, sizeof(id)); /* token_head.key */
	return keyring_derive(ring, le32toh(id), "pvfs ticket secret 1", &field,
			      1, out);
}

/* ---- the verifier ---- */

/* The expiry is checked only after the ticket is known to be authentic. */
static int open_ticket(struct ticket_verifier *v, const struct handshake *shake,
		       const struct wire_msg *hello, struct ticket *ticket)
{
	const struct token_context here = { .fsid = shake->fsid,
					    .session = shake->session,
					    .newest = UINT64_MAX };
	struct ticket t;
	uint64_t now;
	int rc = ticket_open(v->ring, hello->ticket, hello->ticket_len, &here,
			     &t);

	if (rc)
		return rc == -ENOMEM || rc == -ENOKEY || rc == -EKEYEXPIRED
			       ? rc
			       : -EKEYREJECTED;
	rc = v->clock(v->arg, t.limits.term, &now);
	if (rc)
		return rc;
	if (now >= t.limits.expiry)
		return -EKEYEXPIRED;
	*ticket = t;
	return 0;
}

static int check_proof(struct ticket_verifier *v, const struct handshake *shake,
		       const struct wire_msg *hello)
{
	size_t len = le32toh(hello->hdr->len) - sizeof(*hello->proof);
	uint8_t secret[MAC_KEY_LEN];
	int rc = ticket_secret(v->ring, hello->ticket, hello->ticket_len,
			       secret);

	if (!rc)
		rc = handshake_mac_check(secret, shake, HANDSHAKE_CALLER,
					 hello->hdr, len, hello->proof->mac);
	explicit_bzero(secret, sizeof(secret));
	return rc == -EBADMSG ? -EKEYREJECTED : rc;
}

static int verifier_admit(void *arg, const struct handshake *shake,
			  const struct wire_msg *hello, struct admitted *who)
{
	struct ticket_verifier *v = arg;
	struct ticket t;
	int rc = check_proof(v, shake, hello);

	if (!rc)
		rc = open_ticket(v, shake, hello, &t);
	if (rc)
		return rc;
	*who = (struct admitted){ .uid = t.uid,
				  .gid = t.gid,
				  .ngroups = t.ngroups,
				  .until = t.limits.expiry,
				  .term = t.limits.term };
	memcpy(who->groups, t.groups, sizeof(who->groups));
	return 0;
}

static int verifier_answer(void *arg, const struct handshake *shake,
			   const struct wire_msg *hello, const void *msg,
			   size_t len, struct wire_proof *proof)
{
	struct ticket_verifier *v = arg;
	struct wire_proof p = { 0 };
	uint8_t secret[MAC_KEY_LEN];
	int rc = ticket_secret(v->ring, hello->ticket, hello->ticket_len,
			       secret);

	if (rc)
		return rc;
	handshake_mac(secret, shake, HANDSHAKE_SERVER, msg, len, p.mac);
	explicit_bzero(secret, sizeof(secret));
	*proof = p;
	return 0;
}

static int verifier_seal(void *arg, const struct handshake *shake,
			 const struct wire_msg *hello,
			 const struct seal_agreement *agreement,
			 struct sealer **sealer)
{
	struct ticket_verifier *v = arg;
	uint8_t secret[MAC_KEY_LEN];
	int rc = ticket_secret(v->ring, hello->ticket, hello->ticket_len,
			       secret);

	if (!rc)
		rc = sealing_by_secret(secret, shake, HANDSHAKE_SERVER,
				       agreement, sealer);
	explicit_bzero(secret, sizeof(secret));
	return rc == -EBADMSG ? -EKEYREJECTED : rc;
}

struct ticket_hooks ticket_verifier_hooks(struct ticket_verifier *v,
					  enum admission admission)
{
	return (struct ticket_hooks){ v, admission, verifier_admit,
				      verifier_answer, verifier_seal };
}
