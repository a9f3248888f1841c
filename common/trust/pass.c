/* SPDX-License-Identifier: BSD-2-Clause */
/* pass.c - see pass.h. */
#include "common/trust/pass.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/trust/keyring_int.h"
#include "common/trust/sealing.h"
#include "common/trust/secret.h"

/*
 * The ticket may be renewed while a HELLO is in progress. The answer to HELLO, and the sealing of
 * that connection, use the secret of the ticket that was shown.
 */
enum { NOW, BEFORE, SHOWN, CHECKED, SECRETS };

struct pass {
	struct prover prover;
	pthread_mutex_t lock; /* protects the rest */
	uint8_t (*secret)[MAC_KEY_LEN]; /* SECRETS of them, in secret memory */
	size_t len; /* 0: no ticket */
	uint8_t ticket[WIRE_TICKET_MAX];
};

/* The proof names no key, because the ticket does. */
static int prove(void *arg, const struct handshake *shake,
		 enum handshake_side side, const void *msg, size_t len,
		 struct wire_proof *proof)
{
	struct wire_proof p = { 0 };
	struct pass *pass = arg;

	pthread_mutex_lock(&pass->lock);
	handshake_mac(pass->secret[SHOWN], shake, side, msg, len, p.mac);
	pthread_mutex_unlock(&pass->lock);
	*proof = p;
	return 0;
}

static void copy(struct pass *pass, unsigned int to, unsigned int from)
{
	memcpy(pass->secret[to], pass->secret[from], MAC_KEY_LEN);
}

static int check(void *arg, const struct handshake *shake,
		 enum handshake_side side, const void *msg, size_t len,
		 const struct wire_proof *proof)
{
	struct pass *pass = arg;
	unsigned int i;
	int rc = -EKEYREJECTED;

	pthread_mutex_lock(&pass->lock);
	for (i = NOW; i <= BEFORE && rc == -EKEYREJECTED; i++) {
		rc = handshake_mac_check(pass->secret[i], shake, side, msg, len,
					 proof->mac);
		if (!rc)
			copy(pass, CHECKED, i);
	}
	pthread_mutex_unlock(&pass->lock);
	return rc;
}

static size_t ticket(void *arg, void *out)
{
	struct pass *pass = arg;
	size_t len;

	pthread_mutex_lock(&pass->lock);
	len = pass->len;
	memcpy(out, pass->ticket, len);
	copy(pass, SHOWN, NOW);
	pthread_mutex_unlock(&pass->lock);
	return len;
}

static int seal(void *arg, const struct handshake *shake,
		enum handshake_side side, const struct seal_pact *pact,
		struct sealer **sealer)
{
	struct pass *pass = arg;
	int rc;

	pthread_mutex_lock(&pass->lock);
	rc = sealing_by_secret(pass->secret[CHECKED], shake, side, pact,
			       sealer);
	pthread_mutex_unlock(&pass->lock);
	return rc;
}

int pass_new(struct pass **out)
{
	struct pass *pass = calloc(1, sizeof(*pass));

	if (!pass)
		return -ENOMEM;
	pass->secret = secret_new(SECRETS * MAC_KEY_LEN);
	if (!pass->secret) {
		free(pass);
		return -ENOMEM;
	}
	pthread_mutex_init(&pass->lock, NULL);
	pass->prover = (struct prover){ pass,	prove,	      check,
					ticket, sealing_pair, sealing_unpair,
					seal,	sealing_hear };
	*out = pass;
	return 0;
}

void pass_free(struct pass *pass)
{
	if (!pass)
		return;
	secret_free(pass->secret, SECRETS * MAC_KEY_LEN);
	pthread_mutex_destroy(&pass->lock);
	free(pass);
}

int pass_set(struct pass *pass, const void *sealed, size_t len,
	     const uint8_t secret[MAC_KEY_LEN])
{
	if (len > WIRE_TICKET_MAX)
		return -EMSGSIZE;
	pthread_mutex_lock(&pass->lock);
	memcpy(pass->secret[BEFORE], pass->len ? pass->secret[NOW] : secret,
	       MAC_KEY_LEN);
	memcpy(pass->secret[NOW], secret, MAC_KEY_LEN);
	memcpy(pass->ticket, sealed, len);
	pass->len = len;
	pthread_mutex_unlock(&pass->lock);
	return 0;
}

const struct prover *pass_prover(const struct pass *pass)
{
	return &pass->prover;
}
