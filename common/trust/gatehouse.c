/* SPDX-License-Identifier: BSD-2-Clause */
/* gatehouse.c - see gatehouse.h. */
#include "common/trust/gatehouse.h"

#include <errno.h>
#include <string.h>

#include "common/trust/keyring_int.h"
#include "common/trust/sealing.h"
#include "common/trust/ticket.h"

/* The expiry is checked only after the ticket is known to be authentic. */
static int open_ticket(struct gatehouse *house, const struct handshake *shake,
		       const struct wire_msg *hello, struct ticket *ticket)
{
	const struct bounds_here here = { .fsid = shake->fsid,
					  .session = shake->session,
					  .newest = UINT64_MAX };
	struct ticket t;
	uint64_t now;
	int rc = ticket_open(house->ring, hello->ticket, hello->ticket_len,
			     &here, &t);

	if (rc)
		return rc == -ENOMEM || rc == -ENOKEY || rc == -EKEYEXPIRED
			       ? rc
			       : -EKEYREJECTED;
	rc = house->clock(house->arg, t.bounds.term, &now);
	if (rc)
		return rc;
	if (now >= t.bounds.expiry)
		return -EKEYEXPIRED;
	*ticket = t;
	return 0;
}

static int check_proof(struct gatehouse *house, const struct handshake *shake,
		       const struct wire_msg *hello)
{
	size_t len = le32toh(hello->hdr->len) - sizeof(*hello->proof);
	uint8_t secret[MAC_KEY_LEN];
	int rc = ticket_secret(house->ring, hello->ticket, hello->ticket_len,
			       secret);

	if (!rc)
		rc = handshake_mac_check(secret, shake, HANDSHAKE_CALLER,
					 hello->hdr, len, hello->proof->mac);
	explicit_bzero(secret, sizeof(secret));
	return rc == -EBADMSG ? -EKEYREJECTED : rc;
}

static int admit(void *arg, const struct handshake *shake,
		 const struct wire_msg *hello, struct admitted *who)
{
	struct gatehouse *house = arg;
	struct ticket t;
	int rc = check_proof(house, shake, hello);

	if (!rc)
		rc = open_ticket(house, shake, hello, &t);
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

static int answer(void *arg, const struct handshake *shake,
		  const struct wire_msg *hello, const void *msg, size_t len,
		  struct wire_proof *proof)
{
	struct gatehouse *house = arg;
	struct wire_proof p = { 0 };
	uint8_t secret[MAC_KEY_LEN];
	int rc = ticket_secret(house->ring, hello->ticket, hello->ticket_len,
			       secret);

	if (rc)
		return rc;
	handshake_mac(secret, shake, HANDSHAKE_SERVER, msg, len, p.mac);
	explicit_bzero(secret, sizeof(secret));
	*proof = p;
	return 0;
}

static int seal(void *arg, const struct handshake *shake,
		const struct wire_msg *hello, const struct seal_pact *pact,
		struct sealer **sealer)
{
	struct gatehouse *house = arg;
	uint8_t secret[MAC_KEY_LEN];
	int rc = ticket_secret(house->ring, hello->ticket, hello->ticket_len,
			       secret);

	if (!rc)
		rc = sealing_by_secret(secret, shake, HANDSHAKE_SERVER, pact,
				       sealer);
	explicit_bzero(secret, sizeof(secret));
	return rc == -EBADMSG ? -EKEYREJECTED : rc;
}

struct doorkeeper gatehouse_keeper(struct gatehouse *house,
				   enum admission admission)
{
	return (struct doorkeeper){ house, admission, admit, answer, seal };
}
