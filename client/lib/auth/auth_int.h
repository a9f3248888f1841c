/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_int.h - shared by the files of libpvfs-auth.so. */
#ifndef AUTH_INT_H
#define AUTH_INT_H

#include "client/lib/auth/client_auth.h"
#include "common/trust/key_pair.h"
#include "common/trust/keyring.h"
#include "common/munge/munger.h"
#include "common/trust/auth_exchange.h"
#include "common/trust/client_ticket.h"

/* The state of one CHALLENGE, in secret memory. */
struct attempt {
	struct auth_exchange exchange;
	struct key_pair own;
	/* root key, see sealing.h; zeros: none yet */
	uint8_t root[MAC_KEY_LEN];
	uint8_t digest
		[AUTH_EXCHANGE_LEN]; /* transcript that the manager has proved */
	/* with AUTH_MUNGE, the key of that proof */
	uint8_t word_key[MAC_KEY_LEN];
	uint32_t seal_in_place; /* enum seal_mode of the existing connection */
	uint32_t kind;
	uint64_t deadline; /* clock_now() */
	char peer[160];
};

struct client_auth {
	struct client_auth_attr attr;
	struct keyring *ring; /* with AUTH_KEY */
	bool begun; /* the first CHALLENGE was sent */
	struct munger *munger; /* NULL until munge is used */
	/* errno of munged that was logged last, so that it is logged once; 0: none */
	int said;
	struct client_ticket *ticket;
	struct attempt *at;
};

/* engine.c: returns 0; or -ELIBACC, logged, if this host has no library that can seal. */
int engine_look(const struct log *log);

/* munge.c: each function logs its errors. */

/* Gets a credential for auth->at.  As client_auth_ops.word(). */
int munge_word(struct client_auth *auth, struct wire_auth *body, void *word);
/* Checks the manager's credential for the digest of our exchange.  As client_auth_ops.end(). */
int munge_check(struct client_auth *auth,
		const uint8_t digest[AUTH_EXCHANGE_LEN],
		const struct wire_tail *word);

#endif
