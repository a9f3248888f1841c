/* SPDX-License-Identifier: BSD-2-Clause */
/* proof.c - AUTH: the word is judged, and the ticket made. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "auth_int.h"
#include "jobs.h"
#include "log_pace.h"
#include "ticket.h"

#define TICKET_LIFE_NS (UINT64_C(24) * 3600 * 1000000000)

/* One AUTH.  In the pool only work() touches it, and nothing that it points to. */
struct proof {
	struct pool_job job;
	struct mgr *mgr;
	struct rpc_req *rpc;
	struct challenge *c;
	uint32_t kind;
	struct admitted who;
	bool primary; /* the name service says the gid, too */
	int status;
	size_t len; /* of word */
	uint8_t word[WIRE_WORD_MAX];
};

/* What the answer carries. */
struct grant {
	uint8_t ticket[TICKET_MAX];
	size_t len;
	uint8_t hidden[WIRE_KEY_LEN];
};

static void drop(struct pool_job *job)
{
	struct proof *p = container_of(job, struct proof, job);

	challenge_free(p->c);
	free(p);
}

void auth_answer(struct rpc_req *rpc, int status)
{
	rpc_reply_begin(rpc);
	rpc_reply_end(rpc, status, RPC_REEXECUTE);
	rpc_reply_send(rpc);
}

static const char *why(int status)
{
	switch (status) {
	case -ENOKEY:
		return "its key is not one of those here: give it the file of "
		       "[filesystem] key";
	case -EKEYREJECTED:
		return "what it shows is false, or was made for another "
		       "session, connection or manager";
	case -EOPNOTSUPP:
		return "it does not prove itself as [filesystem] auth asks for";
	case -ENOENT:
		return "key_user is no user of this host any more";
	default:
		return strerror(-status);
	}
}

/* Whoever likes can come again and again. */
static void refuse(struct mgr *mgr, struct rpc_req *rpc, int status)
{
	const struct rpc_session_info *info = rpc_session_info(rpc->session);
	struct auths *auths = mgr->auths;

	auths->refused++;
	if (log_pace(&auths->refused_at)) {
		log_warn(mgr->log,
			 "%s (%s): does not get a ticket (%llu so far): %s",
			 info->peer, info->cred.name,
			 (unsigned long long)auths->refused, why(status));
	}
	auth_answer(rpc, status);
}

/* ---- the ticket ---- */

static int seal(struct proof *p, struct grant *grant)
{
	struct mgr *mgr = p->mgr;
	const struct pact *pact = &p->c->pact;
	struct ticket t = {
		.bounds = { .fsid = pact->fsid,
			    .session = pact->session,
			    .term = jobs_term(mgr),
			    .expiry = clock_boot() + TICKET_LIFE_NS },
		.uid = p->who.uid,
		.gid = p->who.gid,
		.ngroups = p->who.ngroups,
	};
	int rc;

	memcpy(t.groups, p->who.groups, sizeof(t.groups));
	memcpy(t.client, pact->key[HANDSHAKE_CALLER], sizeof(t.client));
	rc = ticket_seal(mgr->ring, &t, grant->ticket, sizeof(grant->ticket));
	if (rc > 0)
		grant->len = (size_t)rc;
	return rc < 0 ? rc : 0;
}

static int hide(struct proof *p, struct grant *grant)
{
	const struct pact *pact = &p->c->pact;
	uint8_t secret[MAC_KEY_LEN], shared[EXCHANGE_LEN];
	int rc = ticket_secret(p->mgr->ring, grant->ticket, grant->len, secret);

	if (!rc)
		rc = exchange_secret(&p->c->own, pact->key[HANDSHAKE_CALLER],
				     shared);
	if (!rc)
		rc = pact_hide(pact, shared, secret, grant->hidden);
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(shared, sizeof(shared));
	return rc;
}

/* The manager's own word, in the client's place. */
static int sign(struct proof *p, const struct grant *grant)
{
	const struct pact_answer answer = { grant->ticket, grant->len,
					    grant->hidden };
	uint8_t seen[PACT_LEN];
	struct wire_proof word;
	int rc;

	p->len = 0;
	if (p->kind != AUTH_KEY)
		return 0;
	rc = pact_server(&p->c->pact, &answer, seen);
	if (!rc)
		rc = pact_sign(p->mgr->ring, HANDSHAKE_SERVER, seen, &word);
	if (rc)
		return rc;
	memcpy(p->word, &word, sizeof(word));
	p->len = sizeof(word);
	return 0;
}

static void put_reply(struct proof *p, const struct grant *grant)
{
	struct wire_auth_rep rep = {
		.life = htole64(TICKET_LIFE_NS),
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
	rpc_reply_send(p->rpc);
}

/* The connection may be another one by now, and of another client: not blessed. */
static int bless(struct proof *p)
{
	int rc = rpc_req_epoch(p->rpc) == p->c->pact.epoch
			 ? rpc_req_admit(p->rpc, &p->who)
			 : -EAGAIN;

	if (rc)
		return -EAGAIN;
	caller_is(caller_of(p->rpc->session),
		  &rpc_session_info(p->rpc->session)->cred);
	return 0;
}

static int grant(struct proof *p, struct grant *g)
{
	int rc = seal(p, g);

	if (!rc)
		rc = hide(p, g);
	return rc ? rc : sign(p, g);
}

static void finish(struct proof *p)
{
	struct grant g = { .len = 0 };
	int rc = p->status ? p->status : grant(p, &g);

	if (!rc)
		rc = bless(p);
	if (rc)
		refuse(p->mgr, p->rpc, rc);
	else
		put_reply(p, &g);
	drop(&p->job);
}

/* ---- the judgement ---- */

static void ask_groups(struct pool_job *job)
{
	struct proof *p = container_of(job, struct proof, job);

	p->status = groups_ask(&p->who, p->primary);
}

void auth_judged(struct pool_job *job)
{
	struct proof *p = container_of(job, struct proof, job);

	if (!p->status)
		groups_keep(&p->mgr->auths->groups, &p->who, p->primary);
	finish(p);
}

static void find_groups(struct proof *p)
{
	int rc;

	if (groups_find(&p->mgr->auths->groups, &p->who, p->primary)) {
		finish(p);
		return;
	}
	p->job.work = ask_groups;
	rc = pool_add(p->mgr->auths->pool, &p->job);
	if (!rc)
		return; /* it is the pool's */
	p->status = rc;
	finish(p);
}

/* The kernel's word has the groups, too. */
static int judge_kernel(struct proof *p)
{
	struct tp_identity id;

	if (rpc_req_identity(p->rpc, &id))
		return -EOPNOTSUPP;
	p->who = (struct admitted){ id.uid, id.gid, id.ngroups };
	memcpy(p->who.groups, id.groups, sizeof(id.groups));
	return 0;
}

static int judge_key(struct proof *p)
{
	uint8_t seen[PACT_LEN];
	int rc = pact_caller(&p->c->pact, seen);

	if (!rc)
		rc = pact_check(p->mgr->ring, HANDSHAKE_CALLER, seen, p->word,
				p->len);
	p->who.uid = p->mgr->conf.auth.key_user;
	p->primary = true;
	return rc == -EBADMSG ? -EKEYREJECTED : rc;
}

static void judge(struct proof *p)
{
	if (p->kind == AUTH_SYS) {
		p->status = judge_kernel(p);
		finish(p);
		return;
	}
	p->status = p->kind == p->mgr->conf.auth.mode ? judge_key(p)
						      : -EOPNOTSUPP;
	if (p->status)
		finish(p);
	else
		find_groups(p);
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
	p->job.drop = drop;
	p->mgr = mgr;
	p->rpc = rpc;
	p->c = c;
	p->kind = le32toh(body->kind);
	p->len = rpc->msg.tail[0].len;
	memcpy(p->word, rpc->msg.tail[0].ptr, p->len);
	judge(p);
}
