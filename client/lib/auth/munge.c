/* SPDX-License-Identifier: BSD-2-Clause */
/* munge.c - AUTH_MUNGE: munged of this host certifies this user, and identifies the manager. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/auth/auth_int.h"
#include "common/util/clock.h"
#include "common/util/random_id.h"

_Static_assert(MUNGER_CRED_MAX <= WIRE_WORD_MAX, "a credential is a word");

/* Called only when a server requires munge. */
static int munger_begin(struct client_auth *auth)
{
	if (auth->munger)
		return 0;
	return munger_open(auth->attr.munge_socket, 1, auth->attr.log,
			   &auth->munger);
}

/* Leaves time for a retry before the deadline of the call. */
static uint64_t munge_deadline(const struct client_auth *auth)
{
	uint64_t soon = clock_after_ms(MUNGER_WAIT_MS);

	return soon < auth->at->deadline ? soon : auth->at->deadline;
}

/* Logs the same error only once in a row. */
static void munge_complain(struct client_auth *auth, int rc)
{
	if (auth->said != rc)
		log_error(auth->attr.log, "munge on this host: %s (%s)",
			  munger_why(rc), auth->attr.where);
	auth->said = rc;
}

/* munged is unavailable, possibly for a short time. */
static bool munged_is_away(int rc)
{
	return rc == -EHOSTDOWN || rc == -ETIMEDOUT || rc == -EAGAIN;
}

static int munge_result(struct client_auth *auth, int rc)
{
	if (rc)
		munge_complain(auth, rc);
	else
		auth->said = 0;
	return munged_is_away(rc) ? -ECOMM : rc;
}

/* ---- which users the manager may run as ---- */

/* The same rule as over local.  A process of one of these users could act as us anyway. */
static bool uid_is_trusted(const struct client_auth *auth, uint32_t uid)
{
	return !uid || uid == geteuid() || uid == auth->attr.server_uid;
}

static int manager_reject(const struct client_auth *auth, const char *why)
{
	log_error(auth->attr.log,
		  "%s: it does not prove that it is the manager: %s",
		  auth->at->peer, why);
	return -EKEYREJECTED;
}

static int manager_check_uid(const struct client_auth *auth, uint32_t uid)
{
	char why[160];

	if (uid_is_trusted(auth, uid))
		return 0;
	snprintf(why, sizeof(why),
		 "it runs as user %u: if that is right, write server_user=%u "
		 "in %s",
		 uid, uid, auth->attr.where);
	return manager_reject(auth, why);
}

/* ---- our credential ---- */

static int cred_encode(struct client_auth *auth,
		       const uint8_t digest[AUTH_EXCHANGE_LEN],
		       char cred[MUNGER_CRED_MAX])
{
	return munger_encode(auth->munger, digest, AUTH_EXCHANGE_LEN,
			     munge_deadline(auth), cred);
}

/*
 * Makes a credential that contains a secret which only the manager can decrypt.  With that secret,
 * the manager proves its identity.
 */
static int encode_for(struct client_auth *auth,
		      const uint8_t digest[AUTH_EXCHANGE_LEN],
		      char cred[MUNGER_CRED_MAX])
{
	struct attempt *at = auth->at;
	uint8_t payload[AUTH_EXCHANGE_LEN + MAC_KEY_LEN];
	int rc = manager_check_uid(auth, at->exchange.uid);

	if (!rc)
		rc = random_bytes(at->word_key, sizeof(at->word_key));
	if (rc)
		return rc;
	memcpy(payload, digest, AUTH_EXCHANGE_LEN);
	memcpy(payload + AUTH_EXCHANGE_LEN, at->word_key, MAC_KEY_LEN);
	rc = munger_encode_for(auth->munger, at->exchange.uid, payload,
			       sizeof(payload), munge_deadline(auth), cred);
	explicit_bzero(payload, sizeof(payload));
	return rc;
}

int munge_word(struct client_auth *auth, struct wire_auth *body, void *word)
{
	uint8_t digest[AUTH_EXCHANGE_LEN];
	char cred[MUNGER_CRED_MAX];
	int rc = munger_begin(auth);

	if (rc)
		return rc;
	auth_exchange_caller(&auth->at->exchange, digest);
	rc = auth->at->exchange.seal_in_place ? encode_for(auth, digest, cred)
					      : cred_encode(auth, digest, cred);
	if (rc == -EKEYREJECTED)
		return rc;
	if (rc)
		return munge_result(auth, rc);
	memcpy(word, cred, strlen(cred));
	body->len = htole32((uint32_t)strlen(cred));
	return munge_result(auth, 0);
}

/* ---- the manager's credential ---- */

static int cred_check(struct client_auth *auth,
		      const uint8_t digest[AUTH_EXCHANGE_LEN],
		      const struct munger_word *word)
{
	if (word->len != AUTH_EXCHANGE_LEN ||
	    memcmp(word->payload, digest, AUTH_EXCHANGE_LEN))
		return manager_reject(auth,
				      "its credential is about something else: "
				      "another program passes for it");
	return manager_check_uid(auth, word->uid);
}

static int check_code(const struct client_auth *auth,
		      const uint8_t digest[AUTH_EXCHANGE_LEN],
		      const struct wire_tail *word)
{
	uint8_t code[MAC_LEN];

	auth_exchange_word(auth->at->word_key, digest, code);
	if (word->len == sizeof(code) && mac_equal(code, word->ptr))
		return 0;
	return manager_reject(auth,
			      "it did not read what was for its eyes: another "
			      "program passes for it");
}

static int check_cred(struct client_auth *auth,
		      const uint8_t digest[AUTH_EXCHANGE_LEN],
		      const struct wire_tail *word)
{
	struct munger_word got;
	int rc = munger_decode(auth->munger, word->ptr, word->len,
			       munge_deadline(auth), &got);

	if (!rc)
		return cred_check(auth, digest, &got);
	return munged_is_away(rc) || rc == -ENOMEM
		       ? munge_result(auth, rc)
		       : manager_reject(auth, munger_why(rc));
}

int munge_check(struct client_auth *auth,
		const uint8_t digest[AUTH_EXCHANGE_LEN],
		const struct wire_tail *word)
{
	return auth->at->exchange.seal_in_place
		       ? check_code(auth, digest, word)
		       : check_cred(auth, digest, word);
}
