/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ticket.h - the identity of a session, which the manager verified once for all iods. A ticket is
 * bound to the session and to the key that the client made for it. A client that shows it must have
 * its secret, so an intercepted ticket is useless.
 */
#ifndef TICKET_H
#define TICKET_H

#include "common/trust/handshake.h"
#include "common/trust/keyring.h"
#include "common/trust/token.h"
#include "common/wire/wire.h"

#define TICKET_CLIENT_LEN 32u /* bytes of a public key: X25519, RFC 7748 */

struct ticket {
	struct token_limits limits;
	uint32_t uid, gid;
	uint32_t ngroups; /* at most WIRE_GROUPS_MAX; a larger value names a list */
	uint32_t groups[WIRE_GROUPS_MAX];
	uint8_t client[TICKET_CLIENT_LEN];
};

/* Bytes of a ticket with that many groups; TICKET_MAX: of the longest. */
size_t ticket_len(uint32_t ngroups);
#define TICKET_MAX WIRE_TICKET_MAX

/*
 * Writes ticket_len() bytes to out, which has room bytes. Returns the length; -EINVAL: too many
 * groups; -EMSGSIZE: room is too small.
 */
int ticket_seal(struct keyring *ring, const struct ticket *ticket, void *out,
		size_t room);
/*
 * Checks len untrusted bytes, of any alignment. 0; -EBADMSG: not such a ticket; else as
 * keyring_check() or token_limits_check(). *ticket is set on success only.
 */
int ticket_open(struct keyring *ring, const void *sealed, size_t len,
		const struct token_context *here, struct ticket *ticket);
/*
 * The secret of a sealed ticket. The manager sends it only to the client; servers derive it from
 * the ticket with the key. -EBADMSG: wrong length; -ENOKEY. Does not check the ticket: a proof made
 * with the secret shows whether it is right.
 */
int ticket_secret(struct keyring *ring, const void *sealed, size_t len,
		  uint8_t out[MAC_KEY_LEN]);

/*
 * Checks the tickets of clients at a server, with the keys. The owner fills it in; it must outlive
 * the server.
 */
struct ticket_verifier {
	struct keyring *ring;
	/*
	 * Sets *now on the clock of the manager of that term. -ESTALE: the term is not accepted;
	 * -EAGAIN: not known yet. Any thread.
	 */
	int (*clock)(void *arg, uint64_t term, uint64_t *now);
	void *arg;
};

/* Hooks for rpc with these keys and that clock. */
struct ticket_hooks ticket_verifier_hooks(struct ticket_verifier *verifier,
					  enum admission admission);

#endif
