/* SPDX-License-Identifier: BSD-2-Clause */
/* proof.c - AUTH: its word is judged (judge.c), the ticket made, and the answer sent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/auth/auth_int.h"
#include "mgr/jobs/jobs.h"
#include "common/trust/sealing.h"

#define MUNGE_MS MUNGER_WAIT_MS

static void drop(struct pool_job *job)
{
	struct proof *p = container_of(job, struct proof, job);

	challenge_free(p->c);
	munger_put(p->munger);
	free(p->many.gid);
	free(p);
}

/* ---- the ticket ---- */

static int seal(struct proof *p)
{
	struct grant *grant = &p->grant;
	struct mgr *mgr = p->mgr;
	const struct pact *pact = &p->c->pact;
	struct ticket t = {
		.bounds = { .fsid = pact->fsid,
			    .session = pact->session,
			    .term = jobs_term(mgr),
			    .expiry = clock_boot() + auth_life_ns(mgr) },
		.uid = p->who.uid,
		.gid = p->who.gid,
		.ngroups = p->who.ngroups,
	};
	int rc;

	p->who.until = t.bounds.expiry;
	p->who.term = t.bounds.term;
	memcpy(t.groups, p->who.groups, sizeof(t.groups));
	memcpy(t.client, pact->key[HANDSHAKE_CALLER], sizeof(t.client));
	rc = ticket_seal(mgr->ring, &t, grant->ticket, sizeof(grant->ticket));
	if (rc > 0)
		grant->len = (size_t)rc;
	return rc < 0 ? rc : 0;
}

static int hide(struct proof *p)
{
	struct grant *grant = &p->grant;
	const struct pact *pact = &p->c->pact;
	uint8_t secret[MAC_KEY_LEN], shared[EXCHANGE_LEN];
	int rc = ticket_secret(p->mgr->ring, grant->ticket, grant->len, secret);

	if (!rc)
		rc = exchange_secret(&p->c->own, pact->key[HANDSHAKE_CALLER],
				     shared);
	if (!rc) {
		pact_hide(pact, shared, secret, grant->hidden);
		sealing_root(secret, shared, p->c->root);
	}
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(shared, sizeof(shared));
	return rc;
}

/* The manager's own word, in the client's place. */
static void sign_key(struct proof *p)
{
	struct wire_proof word;

	pact_sign(p->mgr->ring, HANDSHAKE_SERVER, p->seen, &word);
	memcpy(p->word, &word, sizeof(word));
	p->len = sizeof(word);
}

/* By what was for our eyes. */
static void sign_code(struct proof *p)
{
	pact_word(p->c->word_key, p->seen, p->word);
	p->len = MAC_LEN;
}

static void sign_munge(struct pool_job *job)
{
	struct proof *p = container_of(job, struct proof, job);

	p->status = munger_encode(p->munger, p->seen, sizeof(p->seen),
				  p->deadline, (char *)p->word);
	p->len = p->status ? 0 : strlen((char *)p->word);
}

static int seal_here(void *arg, const struct heard *heard,
		     struct sealer **sealer)
{
	const struct proof *p = arg;

	return sealing_here(p->c->root, p->seen, heard, HANDSHAKE_SERVER,
			    p->c->pact.here, sealer);
}

/* Behind it nothing is bare, if that was agreed. */
static void send_reply(struct proof *p)
{
	const struct here here = { p->c->pact.here, seal_here, p };

	if (here.mode)
		rpc_reply_seal(p->rpc, &here);
	else
		rpc_reply_send(p->rpc);
}

static void put_reply(struct proof *p)
{
	const struct grant *grant = &p->grant;
	struct wire_auth_rep rep = {
		.life = htole64(auth_life_ns(p->mgr)),
		.uid = htole32(p->who.uid),
		.gid = htole32(p->who.gid),
		.ticket_len = htole32((uint32_t)grant->len),
		.word_len = htole32((uint32_t)p->len),
	};
	struct wire_out *out = rpc_reply_begin(p->rpc);

	memcpy(rep.secret, grant->hidden, sizeof(rep.secret));
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, grant->ticket, grant->len);
	wire_put(out, p->word, p->len);
	rpc_reply_end(p->rpc, 0, RPC_REEXECUTE);
	send_reply(p);
}

/* Who proves himself again, for his ticket ends. */
static bool is_another(const struct proof *p)
{
	const struct rpc_session_info *info = rpc_session_info(p->rpc->session);

	return info->proved && info->cred.uid != p->who.uid;
}

/* The connection may be another one by now, and of another client: not blessed. */
static int bless(struct proof *p)
{
	int rc = rpc_req_epoch(p->rpc) == p->c->pact.epoch
			 ? rpc_req_admit(p->rpc, &p->who)
			 : -EAGAIN;

	if (rc)
		return -EAGAIN;
	listed_set(caller_of(p->rpc->session), p->list);
	caller_is(caller_of(p->rpc->session),
		  &rpc_session_info(p->rpc->session)->cred);
	auth_holds(p->mgr, p->rpc->session);
	return 0;
}

static void finish(struct proof *p)
{
	int rc = p->status ? p->status : is_another(p) ? -EPERM : bless(p);

	caller_of(p->rpc->session)->proofs--;
	group_list_unpin(&p->mgr->auths->lists, p->list);
	if (rc)
		auth_refuse(p->mgr, p->rpc, rc);
	else
		put_reply(p);
	drop(&p->job);
}

static int grant(struct proof *p)
{
	struct pact_answer answer = { p->grant.ticket, 0, p->grant.hidden };
	int rc = seal(p);

	if (!rc)
		rc = hide(p);
	if (rc)
		return rc;
	answer.len = p->grant.len;
	pact_server(&p->c->pact, &answer, p->seen);
	return 0;
}

void proof_judged(struct proof *p)
{
	if (!p->status)
		p->status = grant(p);
	p->len = 0;
	if (!p->status && p->kind == AUTH_MUNGE && p->c->pact.here) {
		sign_code(p);
	} else if (!p->status && p->kind == AUTH_MUNGE) {
		p->deadline = clock_after_ms(MUNGE_MS);
		proof_aside(p, sign_munge, finish);
		return;
	}
	if (!p->status && p->kind == AUTH_KEY)
		sign_key(p);
	finish(p);
}

/* ---- what others do meanwhile ---- */

void proof_aside(struct proof *p, void (*work)(struct pool_job *job),
		 void (*then)(struct proof *p))
{
	int rc;

	p->job.work = work;
	p->then = then;
	rc = pool_add(p->mgr->auths->pool, &p->job);
	if (!rc)
		return; /* it is the pool's */
	p->status = rc;
	then(p);
}

static void go_on(struct pool_job *job)
{
	struct proof *p = container_of(job, struct proof, job);

	p->then(p);
}

void auth_prove(struct mgr *mgr, struct rpc_req *rpc, struct challenge *c)
{
	const struct wire_auth *body = rpc->msg.body;
	struct proof *p = NULL;
	int rc = -EAGAIN;

	if (mgr->conf.auth.mode == AUTH_SYS)
		rc = -EOPNOTSUPP;
	else if (c && c->pact.epoch == rpc_req_epoch(rpc)) {
		p = calloc(1, sizeof(*p));
		rc = -ENOMEM;
	}
	if (!p) {
		challenge_free(c);
		auth_answer(rpc, rc);
		return;
	}
	p->job.done = go_on;
	p->job.drop = drop;
	p->mgr = mgr;
	p->rpc = rpc;
	p->c = c;
	if (mgr->auths->munger)
		p->munger = munger_get(mgr->auths->munger);
	p->deadline = clock_after_ms(MUNGE_MS);
	caller_of(rpc->session)->proofs++;
	p->kind = le32toh(body->kind);
	p->len = rpc->msg.tail[0].len;
	memcpy(p->word, rpc->msg.tail[0].ptr, p->len);
	proof_judge(p);
}
