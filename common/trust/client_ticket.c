/* SPDX-License-Identifier: BSD-2-Clause */
/* client_ticket.c - see client_ticket.h. */
#include "common/trust/client_ticket.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/trust/handshake_int.h"
#include "common/trust/sealing.h"
#include "common/trust/secret.h"

/*
 * The ticket may be renewed while a HELLO is in progress. The answer to HELLO, and the sealing of
 * that connection, use the secret of the ticket that was shown.
 */
enum { NOW, BEFORE, SHOWN, CHECKED, SECRETS };

struct client_ticket {
	struct prover prover;
	pthread_mutex_t lock; /* protects the rest */
	uint8_t (*secret)[MAC_KEY_LEN]; /* SECRETS of them, in secret memory */
	size_t len; /* 0: no ticket */
	uint8_t ticket[WIRE_TICKET_MAX];
};

/* The proof names no key, because the ticket does. */
static int ticket_prove(void *arg, const struct handshake *shake,
			enum handshake_side side, const void *msg, size_t len,
			struct wire_proof *proof)
{
	struct wire_proof p = { 0 };
	struct client_ticket *ct = arg;

	pthread_mutex_lock(&ct->lock);
	handshake_mac(ct->secret[SHOWN], shake, side, msg, len, p.mac);
	pthread_mutex_unlock(&ct->lock);
	*proof = p;
	return 0;
}

static void copy_secret(struct client_ticket *ct, unsigned int to,
			unsigned int from)
{
	memcpy(ct->secret[to], ct->secret[from], MAC_KEY_LEN);
}

static int ticket_check(void *arg, const struct handshake *shake,
			enum handshake_side side, const void *msg, size_t len,
			const struct wire_proof *proof)
{
	struct client_ticket *ct = arg;
	unsigned int i;
	int rc = -EKEYREJECTED;

	pthread_mutex_lock(&ct->lock);
	for (i = NOW; i <= BEFORE && rc == -EKEYREJECTED; i++) {
		rc = handshake_mac_check(ct->secret[i], shake, side, msg, len,
					 proof->mac);
		if (!rc)
			copy_secret(ct, CHECKED, i);
	}
	pthread_mutex_unlock(&ct->lock);
	return rc;
}

static size_t ticket_show(void *arg, void *out)
{
	struct client_ticket *ct = arg;
	size_t len;

	pthread_mutex_lock(&ct->lock);
	len = ct->len;
	memcpy(out, ct->ticket, len);
	copy_secret(ct, SHOWN, NOW);
	pthread_mutex_unlock(&ct->lock);
	return len;
}

static int ticket_seal_connection(void *arg, const struct handshake *shake,
				  enum handshake_side side,
				  const struct seal_agreement *agreement,
				  struct sealer **sealer)
{
	struct client_ticket *ct = arg;
	int rc;

	pthread_mutex_lock(&ct->lock);
	rc = sealing_by_secret(ct->secret[CHECKED], shake, side, agreement,
			       sealer);
	pthread_mutex_unlock(&ct->lock);
	return rc;
}

int client_ticket_new(struct client_ticket **out)
{
	struct client_ticket *ct = calloc(1, sizeof(*ct));

	if (!ct)
		return -ENOMEM;
	ct->secret = secret_new(SECRETS * MAC_KEY_LEN);
	if (!ct->secret) {
		free(ct);
		return -ENOMEM;
	}
	pthread_mutex_init(&ct->lock, NULL);
	ct->prover = (struct prover){ .arg = ct,
				      .prove = ticket_prove,
				      .check = ticket_check,
				      .ticket = ticket_show,
				      .pair = sealing_pair,
				      .unpair = sealing_unpair,
				      .seal = ticket_seal_connection,
				      .extend_transcript = transcript_extend };
	*out = ct;
	return 0;
}

void client_ticket_free(struct client_ticket *ct)
{
	if (!ct)
		return;
	secret_free(ct->secret, SECRETS * MAC_KEY_LEN);
	pthread_mutex_destroy(&ct->lock);
	free(ct);
}

int client_ticket_set(struct client_ticket *ct, const void *sealed, size_t len,
		      const uint8_t secret[MAC_KEY_LEN])
{
	if (len > WIRE_TICKET_MAX)
		return -EMSGSIZE;
	pthread_mutex_lock(&ct->lock);
	memcpy(ct->secret[BEFORE], ct->len ? ct->secret[NOW] : secret,
	       MAC_KEY_LEN);
	memcpy(ct->secret[NOW], secret, MAC_KEY_LEN);
	memcpy(ct->ticket, sealed, len);
	ct->len = len;
	pthread_mutex_unlock(&ct->lock);
	return 0;
}

const struct prover *client_ticket_prover(const struct client_ticket *ct)
{
	return &ct->prover;
}
