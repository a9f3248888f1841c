/* SPDX-License-Identifier: BSD-2-Clause */
/* auth_int.h - what the files of libpvfs-auth.so share. */
#ifndef AUTH_INT_H
#define AUTH_INT_H

#include "client/lib/auth/client_auth.h"
#include "common/trust/exchange.h"
#include "common/trust/keyring.h"
#include "common/munge/munger.h"
#include "common/trust/pact.h"
#include "common/trust/pass.h"

/* Of one CHALLENGE; secret memory. */
struct attempt {
	struct pact pact;
	struct exchange own;
	uint8_t root[MAC_KEY_LEN]; /* sealing.h; zeros: there is none yet */
	uint8_t seen[PACT_LEN]; /* what the manager has proved, */
	uint8_t word_key[MAC_KEY_LEN]; /* and by what, with AUTH_MUNGE */
	uint32_t here; /* enum seal_mode: so it is sealed as it is */
	uint32_t kind;
	uint64_t deadline; /* clock_now() */
	char peer[160];
};

struct client_auth {
	struct client_auth_attr attr;
	struct keyring *ring; /* with AUTH_KEY */
	bool begun; /* not the first CHALLENGE */
	struct munger *munger; /* once munge was asked for */
	int said; /* of munged, in the log; 0: nothing */
	struct pass *pass;
	struct attempt *at;
};

/* engine.c: 0, or it logs that nothing here can seal: -ELIBACC. */
int engine_look(const struct log *log);

/* munge.c: each logs its errors. */

/* A credential about auth->at.  As client_auth_ops.word(). */
int munge_word(struct client_auth *auth, struct wire_auth *body, void *word);
/* The manager's, about what we have seen.  As client_auth_ops.end(). */
int munge_check(struct client_auth *auth, const uint8_t seen[PACT_LEN],
		const struct wire_tail *word);

#endif
