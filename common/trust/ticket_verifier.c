/* SPDX-License-Identifier: BSD-2-Clause */
/* ticket_verifier.c - see ticket_verifier.h. */
#include "common/trust/ticket_verifier.h"

#include <errno.h>
#include <string.h>

#include "common/trust/handshake_int.h"
#include "common/trust/sealing.h"
#include "common/trust/ticket.h"

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
	rc = v->clock(v->arg, t.bounds.term, &now);
	if (rc)
		return rc;
	if (now >= t.bounds.expiry)
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
				  .until = t.bounds.expiry,
				  .term = t.bounds.term };
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
			 const struct seal_pact *pact, struct sealer **sealer)
{
	struct ticket_verifier *v = arg;
	uint8_t secret[MAC_KEY_LEN];
	int rc = ticket_secret(v->ring, hello->ticket, hello->ticket_len,
			       secret);

	if (!rc)
		rc = sealing_by_secret(secret, shake, HANDSHAKE_SERVER, pact,
				       sealer);
	explicit_bzero(secret, sizeof(secret));
	return rc == -EBADMSG ? -EKEYREJECTED : rc;
}

struct ticket_hooks ticket_verifier_hooks(struct ticket_verifier *v,
					  enum admission admission)
{
	return (struct ticket_hooks){ v, admission, verifier_admit,
				      verifier_answer, verifier_seal };
}
