/* SPDX-License-Identifier: BSD-2-Clause */
/* munge.c - AUTH_MUNGE: this host's munged says who we are, and who the manager is. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "auth_int.h"
#include "clock.h"

_Static_assert(MUNGER_CRED_MAX <= WIRE_WORD_MAX, "a credential is a word");

/* When a server asks for it, and not before. */
static int begin(struct client_auth *auth)
{
	if (auth->munger)
		return 0;
	return munger_open(auth->attr.munge_socket, 1, auth->attr.log,
			   &auth->munger);
}

/* Leaves time for another try before the call's end. */
static uint64_t patience(const struct client_auth *auth)
{
	uint64_t soon = clock_after_ms(MUNGER_WAIT_MS);

	return soon < auth->at->deadline ? soon : auth->at->deadline;
}

/* Of the same once, until it has passed. */
static void complain(struct client_auth *auth, int rc)
{
	if (auth->said != rc)
		log_error(auth->attr.log, "munge on this host: %s (%s)",
			  munger_why(rc), auth->attr.where);
	auth->said = rc;
}

/* Of munged itself: it may be back soon. */
static bool away(int rc)
{
	return rc == -EHOSTDOWN || rc == -ETIMEDOUT || rc == -EAGAIN;
}

static int ended(struct client_auth *auth, int rc)
{
	if (rc)
		complain(auth, rc);
	else
		auth->said = 0;
	return away(rc) ? -ECOMM : rc;
}

int munge_word(struct client_auth *auth, struct wire_auth *body, void *word)
{
	uint8_t seen[PACT_LEN];
	char cred[MUNGER_CRED_MAX];
	int rc = begin(auth);

	if (rc)
		return rc;
	pact_caller(&auth->at->pact, seen);
	rc = munger_encode(auth->munger, seen, sizeof(seen), patience(auth),
			   cred);
	if (rc)
		return ended(auth, rc);
	memcpy(word, cred, strlen(cred));
	body->len = htole32((uint32_t)strlen(cred));
	return ended(auth, 0);
}

/* ---- the manager's ---- */

/* As over local: who else could pass for it could be us. */
static bool believed(const struct client_auth *auth, uint32_t uid)
{
	return !uid || uid == geteuid() || uid == auth->attr.server_uid;
}

static int flaw(struct client_auth *auth, const char *why)
{
	log_error(auth->attr.log,
		  "%s: it does not prove that it is the manager: %s",
		  auth->at->peer, why);
	return -EKEYREJECTED;
}

static int judge(struct client_auth *auth, const uint8_t seen[PACT_LEN],
		 const struct munger_word *word)
{
	char why[160];

	if (word->len != PACT_LEN || memcmp(word->payload, seen, PACT_LEN))
		return flaw(auth, "its credential is about something else: "
				  "another program passes for it");
	if (believed(auth, word->uid))
		return 0;
	snprintf(why, sizeof(why),
		 "it runs as user %u: if that is right, write server_user=%u "
		 "in %s",
		 word->uid, word->uid, auth->attr.where);
	return flaw(auth, why);
}

int munge_check(struct client_auth *auth, const uint8_t seen[PACT_LEN],
		const struct wire_tail *word)
{
	struct munger_word got;
	int rc = munger_decode(auth->munger, word->ptr, word->len,
			       patience(auth), &got);

	if (!rc)
		return judge(auth, seen, &got);
	return away(rc) || rc == -ENOMEM ? ended(auth, rc)
					 : flaw(auth, munger_why(rc));
}
