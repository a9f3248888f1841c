/* SPDX-License-Identifier: BSD-2-Clause */
/* auth.c - CHALLENGE, and who may ask for what before AUTH. */
#include "mgr/auth/auth_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mgr/jobs/jobs.h"
#include "common/util/random_id.h"
#include "common/trust/secret.h"

#define THREADS 4u
#define PROOFS 2u /* of a session at a time: one may be of a lost connection */

void challenge_free(struct challenge *c)
{
	secret_free(c, sizeof(*c));
}

static void wake(void *arg)
{
	struct mgr *mgr = arg;

	rpc_ctx_wake(mgr->ctx);
}

/*
 * A ticket of an earlier life of this manager brings its session back; its time was on
 * the same clock, unless the host was started anew, or is another one: then its end says
 * nothing here, and it counts for one life of a ticket from then on.
 */
static int house_clock(void *arg, uint64_t term, uint64_t *now)
{
	struct mgr *mgr = arg;
	uint64_t here = clock_boot(), begun = jobs_clock_of(mgr, term);

	if (term > jobs_term(mgr))
		return -ESTALE;
	if (begun && here - begun >= auth_life_ns(mgr))
		return -EKEYEXPIRED;
	*now = begun ? 0 : here;
	return 0;
}

static enum admission admission_of(const struct mgr *mgr)
{
	return mgr->conf.auth.mode == AUTH_SYS ? ADMIT_ALL : ADMIT_STRANGERS;
}

int auths_open(struct mgr *mgr)
{
	struct auths *auths = calloc(1, sizeof(*auths));
	int rc;

	if (!auths)
		return -ENOMEM;
	mgr->auths = auths;
	rc = random_bytes(auths->list_key, sizeof(auths->list_key));
	auths->house = (struct gatehouse){ mgr->ring, house_clock, mgr };
	auths->keeper = gatehouse_keeper(&auths->house, admission_of(mgr));
	if (mgr->ring)
		mgr->keeper = &auths->keeper;
	if (!rc && mgr->conf.auth.mode == AUTH_MUNGE)
		rc = munger_open(mgr->conf.auth.munge_socket, THREADS, mgr->log,
				 &auths->munger);
	if (!rc && mgr->conf.auth.mode != AUTH_SYS)
		rc = pool_open(THREADS, mgr->conf.max_sessions + 1, wake, mgr,
			       &auths->pool);
	if (!rc && mgr->conf.auth.mode == AUTH_MUNGE)
		rc = munged_look(mgr);
	if (rc || mgr->conf.auth.mode != AUTH_SYS)
		return rc;
	log_warn(mgr->log,
		 "[filesystem] auth = sys: programs on other hosts are believed "
		 "whatever user they say they are: give this to trusted hosts "
		 "alone, or set auth = munge or key (docs/trust.md)");
	return 0;
}

void auths_close(struct mgr *mgr)
{
	if (!mgr->auths)
		return;
	pool_close(mgr->auths->pool);
	mgr->auths->pool = NULL;
}

void auths_free(struct mgr *mgr)
{
	if (mgr->auths) {
		munger_put(mgr->auths->munger);
		group_lists_free(&mgr->auths->lists);
	}
	free(mgr->auths);
	mgr->auths = NULL;
}

void auths_run(struct mgr *mgr)
{
	struct pool *pool = mgr->auths->pool;
	struct pool_job *job;

	while (pool && (job = pool_collect(pool)))
		job->done(job);
}

void auth_forget(struct caller *caller)
{
	challenge_free(caller->challenge);
	caller->challenge = NULL;
}

/* ---- CHALLENGE ---- */

static int make(struct mgr *mgr, struct rpc_req *rpc, struct challenge *c)
{
	const struct wire_challenge *body = rpc->msg.body;
	struct pact *pact = &c->pact;
	int rc = exchange_make(&c->own);

	if (!rc)
		rc = random_bytes(pact->nonce[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	if (rc)
		return rc;
	pact->fsid = mgr->conf.fsid;
	pact->session = rpc_session_info(rpc->session)->id;
	pact->boot = mgr->boot;
	pact->epoch = rpc_req_epoch(rpc);
	pact->mode = mgr->conf.auth.mode;
	pact->seals = rpc_req_bare(rpc);
	pact->here = rpc_req_here(rpc);
	pact->uid = pact->here ? geteuid() : 0;
	memcpy(pact->key[HANDSHAKE_CALLER], body->key, WIRE_KEY_LEN);
	memcpy(pact->nonce[HANDSHAKE_CALLER], body->nonce, WIRE_KEY_LEN);
	memcpy(pact->key[HANDSHAKE_SERVER], c->own.public, WIRE_KEY_LEN);
	return pact->epoch ? 0 : -EAGAIN;
}

static uint32_t here_flags(const struct challenge *c)
{
	if (!c->pact.here)
		return 0;
	return c->pact.here == SEAL_ENCRYPT ? WIRE_CH_HERE | WIRE_CH_ENCRYPT
					    : WIRE_CH_HERE;
}

static void answer(struct mgr *mgr, struct rpc_req *rpc,
		   const struct challenge *c)
{
	struct tp_identity id;
	struct wire_challenge_rep rep = {
		.fsid = htole64(mgr->conf.fsid),
		.mode = htole32(mgr->conf.auth.mode),
		.uid = htole32(c->pact.uid),
		.flags = htole32(
			(rpc_req_identity(rpc, &id) ? 0 : WIRE_CH_KERNEL) |
			(c->pact.seals ? WIRE_CH_SEAL : 0) | here_flags(c)),
	};

	memcpy(rep.key, c->pact.key[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	memcpy(rep.nonce, c->pact.nonce[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	wire_put(rpc_reply_begin(rpc), &rep,
		 c->pact.here ? sizeof(rep) : WIRE_CHALLENGE_REP_V1);
	rpc_reply_end(rpc, 0, RPC_REEXECUTE);
	rpc_reply_send(rpc);
}

static void take_challenge(struct mgr *mgr, struct rpc_req *rpc)
{
	struct caller *caller = caller_of(rpc->session);
	struct challenge *c = NULL;
	int rc = -EAGAIN;

	if (caller->proofs < PROOFS) {
		c = secret_new(sizeof(*c));
		rc = c ? make(mgr, rpc, c) : -ENOMEM;
	}
	if (rc) {
		challenge_free(c);
		auth_answer(rpc, rc);
		return;
	}
	auth_forget(caller);
	caller->challenge = c;
	answer(mgr, rpc, c);
}

/* ---- the way in ---- */

static void take_auth(struct mgr *mgr, struct rpc_req *rpc)
{
	struct caller *caller = caller_of(rpc->session);
	struct challenge *c = caller->challenge;

	caller->challenge = NULL;
	auth_prove(mgr, rpc, c);
}

static bool must_prove(const struct mgr *mgr,
		       const struct rpc_session_info *info)
{
	return mgr->conf.auth.mode != AUTH_SYS &&
	       info->role == WIRE_ROLE_CLIENT && !info->proved;
}

void auth_holds(const struct mgr *mgr, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);
	struct caller *caller = caller_of(session);
	uint64_t begun = info->until ? jobs_clock_of(mgr, info->term) : 0;

	caller->until = begun ? begun + auth_life_ns(mgr) : info->until;
	caller->ended = false;
}

/* A connection that stays is no longer worth more than one that comes again. */
static bool has_ended(struct mgr *mgr, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);
	struct caller *caller = caller_of(session);

	if (!caller->until || clock_boot() < caller->until)
		return false;
	if (!caller->ended)
		log_warn(mgr->log,
			 "%s (%s): session %016llx: its ticket has ended, and "
			 "it got no other one: its log says why; it goes on "
			 "under another session when it does",
			 info->peer, info->cred.name,
			 (unsigned long long)info->id);
	caller->ended = true;
	return true;
}

bool auth_take(struct mgr *mgr, struct rpc_req *rpc)
{
	if (rpc->op == WIRE_CHALLENGE) {
		take_challenge(mgr, rpc);
	} else if (rpc->op == WIRE_AUTH) {
		take_auth(mgr, rpc);
	} else if (must_prove(mgr, rpc_session_info(rpc->session)) ||
		   rpc_req_bare(rpc)) {
		auth_answer(rpc, -ENOKEY);
	} else if (has_ended(mgr, rpc->session)) {
		auth_answer(rpc, -EKEYEXPIRED);
	} else {
		return false;
	}
	return true;
}

int auth_returns(const struct mgr *mgr, const struct rpc_session_info *info,
		 const struct session_rec *rec)
{
	if (mgr->conf.auth.mode == AUTH_SYS || info->role != WIRE_ROLE_CLIENT)
		return 0;
	if (!info->proved)
		return -EKEYREJECTED;
	if (rec->uid == info->cred.uid)
		return 0;
	return info->until ? -ESTALE : -EPERM;
}
