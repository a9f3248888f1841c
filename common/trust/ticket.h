/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ticket.h - who a session is: what the manager found out once, for all iods.  It is
 * bound to the session and to the key that the client made for it, and who shows it must
 * have its secret, so that a ticket that was overheard is of no use.
 */
#ifndef TICKET_H
#define TICKET_H

#include "common/trust/bounds.h"
#include "common/trust/keyring.h"
#include "common/wire/wire.h"

#define TICKET_CLIENT_LEN 32u /* of a public key: X25519, RFC 7748 */

struct ticket {
	struct bounds bounds;
	uint32_t uid, gid;
	uint32_t ngroups; /* at most WIRE_GROUPS_MAX, or they name a list */
	uint32_t groups[WIRE_GROUPS_MAX];
	uint8_t client[TICKET_CLIENT_LEN];
};

/* Bytes of one with so many groups; of the longest. */
size_t ticket_len(uint32_t ngroups);
#define TICKET_MAX WIRE_TICKET_MAX

/*
 * Writes ticket_len() bytes to out, room of them.  The length; -EINVAL: more groups
 * than can be; -EMSGSIZE: they are not enough.
 */
int ticket_seal(struct keyring *ring, const struct ticket *ticket, void *out,
		size_t room);
/*
 * len bytes from anyone, of any alignment.  0; -EBADMSG: not such a ticket; else as
 * keyring_check() or bounds_check().  *ticket is set on success only.
 */
int ticket_open(struct keyring *ring, const void *sealed, size_t len,
		const struct bounds_here *here, struct ticket *ticket);
/*
 * The secret of a sealed ticket: the manager tells it to the client alone, and who has
 * the key finds it from the ticket.  -EBADMSG: not the length of one; -ENOKEY.
 * Nothing is checked: what was made with it, says whether it is right.
 */
int ticket_secret(struct keyring *ring, const void *sealed, size_t len,
		  uint8_t out[MAC_KEY_LEN]);

#endif
