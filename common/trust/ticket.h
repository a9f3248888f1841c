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
	/* at most WIRE_GROUPS_MAX; a larger value is the name of a list */
	uint32_t ngroups;
	uint32_t groups[WIRE_GROUPS_MAX];
	uint8_t client[TICKET_CLIENT_LEN];
};

/*
 * Returns the bytes of a ticket with that many groups. TICKET_MAX is the length of the longest
 * ticket.
 */
size_t ticket_len(uint32_t ngroups);
#define TICKET_MAX WIRE_TICKET_MAX

/*
 * Writes ticket_len() bytes to out, which has room bytes. Returns the length; -EINVAL if there are
 * too many groups; -EMSGSIZE if room is too small.
 */
int ticket_seal(struct keyring *ring, const struct ticket *ticket, void *out,
		size_t room);
/*
 * Checks len untrusted bytes, of any alignment. Returns 0; -EBADMSG if they are not such a ticket;
 * or an error of keyring_check() or token_limits_check(). *ticket is set on success only.
 */
int ticket_open(struct keyring *ring, const void *sealed, size_t len,
		const struct token_context *here, struct ticket *ticket);
/*
 * Computes the secret of a sealed ticket. The manager sends it only to the client; servers derive
 * it from the ticket with the key. Returns 0, -ENOKEY, or -EBADMSG if the length is wrong. Does not
 * check the ticket: a proof made with the secret shows whether it is right.
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
	 * Sets *now to the time on the clock of the manager of that term. Returns 0; -ESTALE if the
	 * term is not accepted; -EAGAIN if it is not known yet. Any thread may call it.
	 */
	int (*clock)(void *arg, uint64_t term, uint64_t *now);
	void *arg;
};

/* Returns hooks for rpc with these keys and that clock. */
struct ticket_hooks ticket_verifier_hooks(struct ticket_verifier *verifier,
					  enum admission admission);

#endif
