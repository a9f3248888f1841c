/* SPDX-License-Identifier: BSD-2-Clause */
/* client_auth.c - see client_auth.h. */
#include "client/lib/auth/auth_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/random_id.h"
#include "common/trust/sealing.h"
#include "common/trust/secret.h"

static void ca_close(struct client_auth *auth)
{
	if (!auth)
		return;
	secret_free(auth->at, sizeof(*auth->at));
	client_ticket_free(auth->ticket);
	keyring_close(auth->ring);
	munger_put(auth->munger);
	free(auth);
}

static int open_key(struct client_auth *auth)
{
	const struct client_auth_attr *attr = &auth->attr;

	if (attr->mode != AUTH_KEY)
		return 0;
	return keyring_open(attr->key, false, attr->log, &auth->ring);
}

static int ca_open(const struct client_auth_attr *attr,
		   struct client_auth **out)
{
	struct client_auth *auth = calloc(1, sizeof(*auth));
	int rc;

	if (!auth)
		return -ENOMEM;
	auth->attr = *attr;
	auth->at = secret_new(sizeof(*auth->at));
	rc = auth->at ? client_ticket_new(&auth->ticket) : -ENOMEM;
	if (!rc)
		rc = open_key(auth);
	if (!rc)
		rc = engine_look(attr->log);
	if (rc)
		ca_close(auth);
	else
		*out = auth;
	return rc;
}

static const struct prover *ca_prover(const struct client_auth *auth)
{
	return client_ticket_prover(auth->ticket);
}

/* ---- CHALLENGE ---- */

/*
 * Reads the key file again, because the keys of the servers may change while the process runs.
 * If the process can no longer read the file, it keeps the keys that it has.
 */
static void look_again(struct client_auth *auth)
{
	if (auth->ring && auth->begun &&
	    !faccessat(AT_FDCWD, auth->attr.key, R_OK, AT_EACCESS))
		keyring_reload(auth->ring);
	auth->begun = true;
}

static int ca_begin(struct client_auth *auth, struct wire_challenge *body)
{
	struct attempt *at = auth->at;
	struct auth_exchange *exchange = &at->exchange;
	int rc = key_pair_make(&at->own);

	look_again(auth);
	if (!rc)
		rc = random_bytes(exchange->nonce[HANDSHAKE_CALLER],
				  WIRE_KEY_LEN);
	if (rc)
		return rc;
	memcpy(exchange->key[HANDSHAKE_CALLER], at->own.public, WIRE_KEY_LEN);
	memcpy(body->key, at->own.public, WIRE_KEY_LEN);
	memcpy(body->nonce, exchange->nonce[HANDSHAKE_CALLER], WIRE_KEY_LEN);
	return 0;
}

/* ---- AUTH ---- */

static uint32_t mode_in_place(uint32_t flags)
{
	if (!(flags & WIRE_CH_SEAL_IN_PLACE))
		return SEAL_NONE;
	return flags & WIRE_CH_ENCRYPT ? SEAL_ENCRYPT : SEAL_AUTH;
}

static void fill_exchange(struct attempt *at, const struct client_auth_way *way,
			  const struct wire_challenge_rep *rep)
{
	struct auth_exchange *exchange = &at->exchange;

	exchange->fsid = le64toh(rep->fsid);
	exchange->session = way->session;
	exchange->boot = way->boot;
	exchange->epoch = way->epoch;
	exchange->mode = le32toh(rep->mode);
	exchange->seals = le32toh(rep->flags) & WIRE_CH_SEAL;
	exchange->seal_in_place = mode_in_place(le32toh(rep->flags));
	exchange->uid = exchange->seal_in_place ? le32toh(rep->uid) : 0;
	at->seal_in_place = way->seal_in_place && exchange->seals
				    ? exchange->seal_in_place
				    : SEAL_NONE;
	at->deadline = way->deadline;
	memcpy(exchange->key[HANDSHAKE_SERVER], rep->key, WIRE_KEY_LEN);
	memcpy(exchange->nonce[HANDSHAKE_SERVER], rep->nonce, WIRE_KEY_LEN);
	snprintf(at->peer, sizeof(at->peer), "%s", way->peer);
}

/* Rejects a mode below the one that pvfstab requires. */
static int check_mode(const struct client_auth *auth,
		      const struct client_auth_way *way, uint32_t mode)
{
	const struct client_auth_attr *attr = &auth->attr;

	if (mode >= attr->mode)
		return 0;
	log_error(attr->log,
		  "%s: the servers have [filesystem] auth = %s, and %s asks for "
		  "auth=%s at least: set that at the servers; or another "
		  "program passes for them",
		  way->peer, auth_mode_name(mode), attr->where,
		  auth_mode_name(attr->mode));
	return -EKEYREJECTED;
}

/* The flag that disables seals is part of the authenticated transcript. */
static int check_seal(const struct client_auth *auth,
		      const struct client_auth_way *way, uint32_t flags)
{
	const struct client_auth_attr *attr = &auth->attr;

	if (!attr->seal || !way->seals || flags & WIRE_CH_SEAL)
		return 0;
	log_error(attr->log,
		  "%s: the servers have [filesystem] seal = none, and %s asks "
		  "for seal=%s at least: set that at the servers and "
		  "restart them; or another program intercepts the connection",
		  way->peer, attr->where, seal_mode_name(attr->seal));
	return -EKEYREJECTED;
}

static int check_fsid(const struct client_auth *auth,
		      const struct client_auth_way *way, uint64_t fsid)
{
	if (!way->fsid || way->fsid == fsid)
		return 0;
	log_error(auth->attr.log, "%s: it is of another file system",
		  way->peer);
	return -ENXIO;
}

static int word_key(struct client_auth *auth, struct wire_auth *body,
		    void *word)
{
	uint8_t digest[AUTH_EXCHANGE_LEN];
	struct wire_proof proof;

	if (!auth->ring)
		return -EOPNOTSUPP;
	auth_exchange_caller(&auth->at->exchange, digest);
	auth_exchange_sign(auth->ring, HANDSHAKE_CALLER, digest, &proof);
	memcpy(word, &proof, sizeof(proof));
	body->len = htole32(sizeof(proof));
	return 0;
}

/* Only a server on this host may say that kernel credentials are enough. */
static int proof_make(struct client_auth *auth,
		      const struct client_auth_way *way,
		      const struct wire_challenge_rep *rep,
		      struct wire_auth *body, void *word)
{
	uint32_t mode = le32toh(rep->mode);

	*body = (struct wire_auth){ 0 };
	if (way->local && le32toh(rep->flags) & WIRE_CH_KERNEL)
		mode = AUTH_SYS;
	auth->at->kind = mode;
	body->kind = htole32(mode);
	switch (mode) {
	case AUTH_SYS:
		return 0;
	case AUTH_KEY:
		return word_key(auth, body, word);
	case AUTH_MUNGE:
		return munge_word(auth, body, word);
	default:
		return -EOPNOTSUPP;
	}
}

static int ca_word(struct client_auth *auth, const struct client_auth_way *way,
		   const struct wire_challenge_rep *rep, struct wire_auth *body,
		   void *word)
{
	int rc = check_mode(auth, way, le32toh(rep->mode));

	if (!rc)
		rc = check_seal(auth, way, le32toh(rep->flags));
	if (!rc)
		rc = check_fsid(auth, way, le64toh(rep->fsid));
	if (rc)
		return rc;
	fill_exchange(auth->at, way, rep);
	rc = proof_make(auth, way, rep, body, word);
	if (rc)
		auth->at->seal_in_place = SEAL_NONE;
	if (rc == -EOPNOTSUPP)
		log_error(auth->attr.log,
			  "%s: the servers have [filesystem] auth = %s: write "
			  "auth=%s in %s",
			  way->peer, auth_mode_name(le32toh(rep->mode)),
			  auth_mode_name(le32toh(rep->mode)), auth->attr.where);
	return rc;
}

/* ---- the manager's answer ---- */

static int check_key(struct client_auth *auth,
		     const uint8_t digest[AUTH_EXCHANGE_LEN],
		     const struct wire_tail *word)
{
	if (!auth_exchange_check(auth->ring, HANDSHAKE_SERVER, digest,
				 word->ptr, word->len))
		return 0;
	log_error(auth->attr.log,
		  "%s: it does not prove that it is the manager: another "
		  "program passes for it, or it has another key",
		  auth->at->peer);
	return -EKEYREJECTED;
}

static int check_word(struct client_auth *auth,
		      const uint8_t digest[AUTH_EXCHANGE_LEN],
		      const struct wire_tail *word)
{
	switch (auth->at->kind) {
	case AUTH_SYS: /* the kernel of this host vouches for the manager */
		return 0;
	case AUTH_KEY:
		return check_key(auth, digest, word);
	case AUTH_MUNGE:
		return munge_check(auth, digest, word);
	default:
		return -EKEYREJECTED;
	}
}

static int check_server(struct client_auth *auth, const struct wire_msg *reply)
{
	const struct wire_auth_rep *rep = reply->body;
	const struct auth_answer answer = { reply->tail[0].ptr,
					    reply->tail[0].len, rep->secret };
	uint8_t *digest = auth->at->digest;

	auth_exchange_server(&auth->at->exchange, &answer, digest);
	return check_word(auth, digest, &reply->tail[1]);
}

static int take_ticket(struct client_auth *auth, const struct wire_msg *reply)
{
	const struct wire_auth_rep *rep = reply->body;
	uint8_t shared[KEY_PAIR_LEN], secret[MAC_KEY_LEN];
	struct attempt *at = auth->at;
	int rc = key_pair_secret(&at->own, at->exchange.key[HANDSHAKE_SERVER],
				 shared);

	if (!rc)
		auth_exchange_hide(&at->exchange, shared, rep->secret, secret);
	if (!rc && at->seal_in_place)
		sealing_root(secret, shared, at->root);
	if (!rc)
		rc = client_ticket_set(auth->ticket, reply->tail[0].ptr,
				       reply->tail[0].len, secret);
	explicit_bzero(shared, sizeof(shared));
	explicit_bzero(secret, sizeof(secret));
	return rc;
}

static int ca_end(struct client_auth *auth, const struct wire_msg *reply,
		  uint64_t *life)
{
	const struct wire_auth_rep *rep = reply->body;
	int rc = check_server(auth, reply);

	if (!rc)
		rc = take_ticket(auth, reply);
	explicit_bzero(&auth->at->own, sizeof(auth->at->own));
	explicit_bzero(auth->at->word_key, sizeof(auth->at->word_key));
	if (rc)
		auth->at->seal_in_place = SEAL_NONE;
	else
		*life = le64toh(rep->life);
	return rc;
}

static int make_sealer_in_place(void *arg, const struct transcript *transcript,
				struct sealer **sealer)
{
	struct client_auth *auth = arg;
	struct attempt *at = auth->at;
	int rc = sealing_in_place(at->root, at->digest, transcript,
				  HANDSHAKE_CALLER, at->seal_in_place, sealer);

	explicit_bzero(at->root, sizeof(at->root));
	at->seal_in_place = SEAL_NONE;
	return rc;
}

/* If the mode is below what pvfstab requires, the client reconnects with its ticket instead. */
static struct seal_in_place ca_seal_in_place(struct client_auth *auth)
{
	uint32_t mode = auth->at->seal_in_place;

	return (struct seal_in_place){ mode < auth->attr.seal ? SEAL_NONE
							      : mode,
				       make_sealer_in_place, auth };
}

__attribute__((visibility("default"))) const struct client_auth_ops *
pvfs_client_auth_3(void)
{
	static const struct client_auth_ops ops = {
		.open = ca_open,
		.close = ca_close,
		.prover = ca_prover,
		.begin = ca_begin,
		.word = ca_word,
		.end = ca_end,
		.seal_in_place = ca_seal_in_place,
	};

	return &ops;
}
