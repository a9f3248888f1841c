/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_ticket.c - how a session gets its ticket, and when the ticket expires.  AUTH verifies the
 * client's proof, queries its groups, makes the ticket and replies with it.  Steps that can block
 * run in the pool:
 *
 *	judge_munge --> query_groups --> complete_judgement --> sign_munge --> reply
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/trust/auth_exchange.h"
#include "common/trust/sealing.h"
#include "common/trust/secret.h"
#include "common/util/random_id.h"
#include "mgr/auth/mgr_auth_int.h"
#include "mgr/jobs/jobs.h"

/* ---- when the ticket of a session expires, and which session may come back ---- */

void session_ticket_start(const struct mgr *mgr, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);
	struct caller *caller = caller_of(session);
	uint64_t begun = info->until ? jobs_clock_of(mgr, info->term) : 0;

	caller->until = begun ? begun + auth_ticket_life_ns(mgr) : info->until;
	caller->ended = false;
}

/* An open connection loses its rights at the same time as a client that reconnects. */
bool session_ticket_has_expired(struct mgr *mgr, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);
	struct caller *caller = caller_of(session);

	if (!caller->until || clock_boot() < caller->until)
		return false;
	if (!caller->ended)
		log_warn(mgr->log,
			 "%s (%s): session %016llx: its ticket has ended, and "
			 "it got no new one: see the client's log; when it "
			 "gets one, it continues in a new session",
			 info->peer, info->cred.name,
			 (unsigned long long)info->id);
	caller->ended = true;
	return true;
}

int session_ticket_check_return(const struct mgr *mgr,
				const struct rpc_session_info *info,
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

/* ---- CHALLENGE: a key pair and a nonce for one AUTH of this connection ---- */

/* For one AUTH, in secret memory (secret.h). */
struct auth_challenge {
	struct auth_exchange exchange;
	struct key_pair own;
	uint8_t root[MAC_KEY_LEN]; /* sealing.h */
	uint8_t word_key
		[MAC_KEY_LEN]; /* with AUTH_MUNGE: signs the manager's proof */
};

#define PROOFS 2u /* of a session at a time; one can be of a lost connection */

static void auth_challenge_free(struct auth_challenge *c)
{
	secret_free(c, sizeof(*c));
}

void auth_challenge_drop(struct caller *caller)
{
	auth_challenge_free(caller->challenge);
	caller->challenge = NULL;
}

static int fill_challenge(struct mgr *mgr, struct rpc_req *rpc,
			  struct auth_challenge *c)
{
	const struct wire_challenge *body = rpc->msg.body;
	struct auth_exchange *exchange = &c->exchange;
	int rc = key_pair_make(&c->own);

	if (!rc)
		rc = random_bytes(exchange->nonce[HANDSHAKE_SERVER],
				  WIRE_KEY_LEN);
	if (rc)
		return rc;
	exchange->fsid = mgr->conf.fsid;
	exchange->session = rpc_session_info(rpc->session)->id;
	exchange->boot = mgr->boot;
	exchange->epoch = rpc_req_epoch(rpc);
	exchange->mode = mgr->conf.auth.mode;
	exchange->seals = rpc_req_lacks_seal(rpc);
	exchange->seal_in_place = rpc_req_seal_in_place(rpc);
	exchange->uid = exchange->seal_in_place ? geteuid() : 0;
	memcpy(exchange->key[HANDSHAKE_CALLER], body->key, WIRE_KEY_LEN);
	memcpy(exchange->nonce[HANDSHAKE_CALLER], body->nonce, WIRE_KEY_LEN);
	memcpy(exchange->key[HANDSHAKE_SERVER], c->own.public, WIRE_KEY_LEN);
	return exchange->epoch ? 0 : -EAGAIN;
}

static uint32_t here_flags(const struct auth_challenge *c)
{
	if (!c->exchange.seal_in_place)
		return 0;
	return c->exchange.seal_in_place == SEAL_ENCRYPT
		       ? WIRE_CH_SEAL_IN_PLACE | WIRE_CH_ENCRYPT
		       : WIRE_CH_SEAL_IN_PLACE;
}

static void send_challenge(struct mgr *mgr, struct rpc_req *rpc,
			   const struct auth_challenge *c)
{
	struct tp_identity id;
	struct wire_challenge_rep rep = {
		.fsid = htole64(mgr->conf.fsid),
		.mode = htole32(mgr->conf.auth.mode),
		.uid = htole32(c->exchange.uid),
		.flags = htole32(
			(rpc_req_identity(rpc, &id) ? 0 : WIRE_CH_KERNEL) |
			(c->exchange.seals ? WIRE_CH_SEAL : 0) | here_flags(c)),
	};

	memcpy(rep.key, c->exchange.key[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	memcpy(rep.nonce, c->exchange.nonce[HANDSHAKE_SERVER], WIRE_KEY_LEN);
	wire_put(rpc_reply_begin(rpc), &rep,
		 c->exchange.seal_in_place ? sizeof(rep)
					   : WIRE_CHALLENGE_REP_V1);
	rpc_reply_end(rpc, 0, RPC_REEXECUTE);
	rpc_reply_send(rpc);
}

void auth_challenge_start(struct mgr *mgr, struct rpc_req *rpc)
{
	struct caller *caller = caller_of(rpc->session);
	struct auth_challenge *c = NULL;
	int rc = -EAGAIN;

	if (caller->proofs < PROOFS) {
		c = secret_new(sizeof(*c));
		rc = c ? fill_challenge(mgr, rpc, c) : -ENOMEM;
	}
	if (rc) {
		auth_challenge_free(c);
		auth_reply(rpc, rc);
		return;
	}
	auth_challenge_drop(caller);
	caller->challenge = c;
	send_challenge(mgr, rpc, c);
}

/* ---- AUTH ---- */

#define MUNGE_MS MUNGER_WAIT_MS

struct ticket_grant {
	uint8_t ticket[TICKET_MAX];
	size_t len;
	uint8_t hidden[WIRE_KEY_LEN]; /* the ticket's secret, for the client alone */
};

/* One AUTH.  In the pool, work() touches only this struct, and nothing that it points to. */
struct auth_proof {
	struct pool_job job;
	void (*next)(
		struct auth_proof *p); /* on the serving thread, after work() */
	struct mgr *mgr;
	struct rpc_req *rpc;
	struct auth_challenge *c;
	struct munger *munger; /* a reference, with AUTH_MUNGE */
	uint64_t deadline; /* of munged */
	uint32_t kind;
	struct admitted who;
	struct gid_list many; /* the groups, if who has no room for them */
	struct group_list
		*list; /* the same as a list of the manager, pinned; or NULL */
	bool primary; /* query the gid, too */
	int status;
	uint8_t digest
		[AUTH_EXCHANGE_LEN]; /* the exchange to which the word belongs */
	struct ticket_grant grant;
	size_t len; /* of word */
	uint8_t word[WIRE_WORD_MAX]; /* first the client's, then the manager's */
};

/* ---- steps in the pool ---- */

static void drop_proof(struct pool_job *job)
{
	struct auth_proof *p = container_of(job, struct auth_proof, job);

	auth_challenge_free(p->c);
	munger_put(p->munger);
	free(p->many.gid);
	free(p);
}

/* Runs work() in the pool and then next(), which gets p->status if the pool is full. */
static void run_in_pool(struct auth_proof *p,
			void (*work)(struct pool_job *job),
			void (*next)(struct auth_proof *p))
{
	int rc;

	p->job.work = work;
	p->next = next;
	rc = pool_add(p->mgr->auth->pool, &p->job);
	if (!rc)
		return; /* the pool owns p */
	p->status = rc;
	next(p);
}

static void work_complete(struct pool_job *job)
{
	struct auth_proof *p = container_of(job, struct auth_proof, job);

	p->next(p);
}

/* ---- the ticket ---- */

static int seal_ticket(struct auth_proof *p)
{
	struct ticket_grant *grant = &p->grant;
	struct mgr *mgr = p->mgr;
	const struct auth_exchange *exchange = &p->c->exchange;
	struct ticket t = {
		.limits = { .fsid = exchange->fsid,
			    .session = exchange->session,
			    .term = jobs_term(mgr),
			    .expiry = clock_boot() + auth_ticket_life_ns(mgr) },
		.uid = p->who.uid,
		.gid = p->who.gid,
		.ngroups = p->who.ngroups,
	};
	int rc;

	p->who.until = t.limits.expiry;
	p->who.term = t.limits.term;
	memcpy(t.groups, p->who.groups, sizeof(t.groups));
	memcpy(t.client, exchange->key[HANDSHAKE_CALLER], sizeof(t.client));
	rc = ticket_seal(mgr->ring, &t, grant->ticket, sizeof(grant->ticket));
	if (rc > 0)
		grant->len = (size_t)rc;
	return rc < 0 ? rc : 0;
}

static int hide_secret(struct auth_proof *p)
{
	struct ticket_grant *grant = &p->grant;
	const struct auth_exchange *exchange = &p->c->exchange;
	uint8_t secret[MAC_KEY_LEN], shared[KEY_PAIR_LEN];
	int rc = ticket_secret(p->mgr->ring, grant->ticket, grant->len, secret);

	if (!rc)
		rc = key_pair_secret(&p->c->own,
				     exchange->key[HANDSHAKE_CALLER], shared);
	if (!rc) {
		auth_exchange_hide(exchange, shared, secret, grant->hidden);
		sealing_root(secret, shared, p->c->root);
	}
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(shared, sizeof(shared));
	return rc;
}

static int make_ticket(struct auth_proof *p)
{
	struct auth_answer answer = { p->grant.ticket, 0, p->grant.hidden };
	int rc = seal_ticket(p);

	if (!rc)
		rc = hide_secret(p);
	if (rc)
		return rc;
	answer.len = p->grant.len;
	auth_exchange_server(&p->c->exchange, &answer, p->digest);
	return 0;
}

/* ---- the reply ---- */

static int seal_connection(void *arg, const struct transcript *transcript,
			   struct sealer **sealer)
{
	const struct auth_proof *p = arg;

	return sealing_in_place(p->c->root, p->digest, transcript,
				HANDSHAKE_SERVER, p->c->exchange.seal_in_place,
				sealer);
}

/* After the reply, the connection is sealed if both ends agreed on that. */
static void send_reply(struct auth_proof *p)
{
	const struct seal_in_place in_place = { p->c->exchange.seal_in_place,
						seal_connection, p };

	if (in_place.mode)
		rpc_reply_send_and_seal(p->rpc, &in_place);
	else
		rpc_reply_send(p->rpc);
}

static void put_reply(struct auth_proof *p)
{
	const struct ticket_grant *grant = &p->grant;
	struct wire_auth_rep rep = {
		.life = htole64(auth_ticket_life_ns(p->mgr)),
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

/* A client authenticates again because its ticket expires; it must stay the same user. */
static bool is_another_user(const struct auth_proof *p)
{
	const struct rpc_session_info *info = rpc_session_info(p->rpc->session);

	return info->proved && info->cred.uid != p->who.uid;
}

/*
 * -EAGAIN: the session has a new connection, perhaps of another client; or another manager may
 * lead.
 */
static int admit_session(struct auth_proof *p)
{
	int rc = rpc_req_epoch(p->rpc) == p->c->exchange.epoch &&
				 flusher_leads(p->mgr->fl)
			 ? rpc_req_admit(p->rpc, &p->who)
			 : -EAGAIN;

	if (rc)
		return rc == -ESTALE ? -EAGAIN : rc;
	session_groups_set(caller_of(p->rpc->session), p->list);
	caller_set_cred(caller_of(p->rpc->session),
			&rpc_session_info(p->rpc->session)->cred);
	session_ticket_start(p->mgr, p->rpc->session);
	return 0;
}

static void finish_proof(struct auth_proof *p)
{
	int rc = p->status	      ? p->status
		 : is_another_user(p) ? -EPERM
				      : admit_session(p);

	caller_of(p->rpc->session)->proofs--;
	group_list_unpin(&p->mgr->auth->lists, p->list);
	if (rc)
		auth_refuse(p->mgr, p->rpc, rc);
	else
		put_reply(p);
	drop_proof(&p->job);
}

/* ---- the manager's own proof ---- */

static void sign_with_key(struct auth_proof *p)
{
	struct wire_proof word;

	auth_exchange_sign(p->mgr->ring, HANDSHAKE_SERVER, p->digest, &word);
	memcpy(p->word, &word, sizeof(word));
	p->len = sizeof(word);
}

/* With the key that the client's MUNGE credential carried for this manager alone. */
static void sign_with_word_key(struct auth_proof *p)
{
	auth_exchange_word(p->c->word_key, p->digest, p->word);
	p->len = MAC_LEN;
}

static void sign_munge(struct pool_job *job)
{
	struct auth_proof *p = container_of(job, struct auth_proof, job);

	p->status = munger_encode(p->munger, p->digest, sizeof(p->digest),
				  p->deadline, (char *)p->word);
	p->len = p->status ? 0 : strlen((char *)p->word);
}

/* p->who is known, or p->status is an error. */
static void complete_judgement(struct auth_proof *p)
{
	if (!p->status)
		p->status = make_ticket(p);
	p->len = 0;
	if (!p->status && p->kind == AUTH_MUNGE &&
	    p->c->exchange.seal_in_place) {
		sign_with_word_key(p);
	} else if (!p->status && p->kind == AUTH_MUNGE) {
		p->deadline = clock_after_ms(MUNGE_MS);
		run_in_pool(p, sign_munge, finish_proof);
		return;
	}
	if (!p->status && p->kind == AUTH_KEY)
		sign_with_key(p);
	finish_proof(p);
}

/* ---- the groups of the user ---- */

static void query_groups(struct pool_job *job)
{
	struct auth_proof *p = container_of(job, struct auth_proof, job);

	p->status = user_groups_query(&p->who, p->primary, &p->many);
}

static void store_groups(struct auth_proof *p)
{
	if (!p->status && p->many.gid)
		p->status = session_groups_name_list(p->mgr, p->many.gid,
						     p->many.n, &p->who,
						     &p->list);
	if (!p->status)
		user_groups_store(&p->mgr->auth->groups, &p->who, p->primary);
	complete_judgement(p);
}

/* A cached user can name a list that was removed to make room for others. */
static bool find_cached_groups(struct auth_proof *p)
{
	struct group_lists *lists = &p->mgr->auth->lists;

	if (!user_groups_find(&p->mgr->auth->groups, &p->who, p->primary))
		return false;
	if (!wire_groups_listed(p->who.groups, p->who.ngroups))
		return true;
	p->list = group_lists_find(lists, &lists->own,
				   wire_groups_list(p->who.groups));
	if (p->list)
		group_list_pin(lists, p->list);
	return p->list;
}

static void find_groups(struct auth_proof *p)
{
	if (p->status || find_cached_groups(p))
		complete_judgement(p);
	else
		run_in_pool(p, query_groups, store_groups);
}

/* ---- the client's proof ---- */

/* The kernel also tells the groups. */
static int judge_kernel(struct auth_proof *p)
{
	struct tp_identity id;

	if (rpc_req_identity(p->rpc, &id))
		return -EOPNOTSUPP;
	p->who = (struct admitted){ .uid = id.uid, .gid = id.gid };
	if (id.ngroups > WIRE_GROUPS_MAX)
		return session_groups_name_list(p->mgr, id.groups, id.ngroups,
						&p->who, &p->list);
	p->who.ngroups = id.ngroups;
	for (uint32_t i = 0; i < id.ngroups; i++)
		p->who.groups[i] = id.groups[i];
	return 0;
}

static int judge_key(struct auth_proof *p)
{
	int rc = auth_exchange_check(p->mgr->ring, HANDSHAKE_CALLER, p->digest,
				     p->word, p->len);

	p->who.uid = p->mgr->conf.auth.key_user;
	p->primary = true;
	return rc == -EBADMSG ? -EKEYREJECTED : rc;
}

/* munged verifies that the credential is of this cluster; the payload must be of this session. */
static void judge_munge(struct pool_job *job)
{
	struct auth_proof *p = container_of(job, struct auth_proof, job);
	struct munger_word word;
	size_t secret = p->c->exchange.seal_in_place ? MAC_KEY_LEN : 0;
	int rc = munger_decode(p->munger, p->word, p->len, p->deadline, &word);

	if (!rc && (word.len != AUTH_EXCHANGE_LEN + secret ||
		    !mac_equal(word.payload, p->digest)))
		rc = -EKEYREJECTED;
	if (!rc)
		memcpy(p->c->word_key, word.payload + AUTH_EXCHANGE_LEN,
		       secret);
	explicit_bzero(word.payload, sizeof(word.payload));
	p->status = rc;
	if (rc)
		return;
	p->who.uid = word.uid;
	p->who.gid = word.gid;
}

static void judge_proof(struct auth_proof *p)
{
	if (p->kind == AUTH_SYS) {
		p->status = judge_kernel(p);
		complete_judgement(p);
		return;
	}
	p->status = p->kind == p->mgr->conf.auth.mode ? 0 : -EOPNOTSUPP;
	if (!p->status)
		auth_exchange_caller(&p->c->exchange, p->digest);
	if (!p->status && p->kind == AUTH_MUNGE) {
		run_in_pool(p, judge_munge, find_groups);
		return;
	}
	if (!p->status)
		p->status = judge_key(p);
	find_groups(p);
}

/* ---- the request ---- */

void auth_prove(struct mgr *mgr, struct rpc_req *rpc)
{
	const struct wire_auth *body = rpc->msg.body;
	struct caller *caller = caller_of(rpc->session);
	struct auth_challenge *c = caller->challenge;
	struct auth_proof *p = NULL;
	int rc = -EAGAIN;

	caller->challenge = NULL;
	if (mgr->conf.auth.mode == AUTH_SYS)
		rc = -EOPNOTSUPP;
	else if (c && c->exchange.epoch == rpc_req_epoch(rpc)) {
		p = calloc(1, sizeof(*p));
		rc = -ENOMEM;
	}
	if (!p) {
		auth_challenge_free(c);
		auth_reply(rpc, rc);
		return;
	}
	p->job.done = work_complete;
	p->job.drop = drop_proof;
	p->mgr = mgr;
	p->rpc = rpc;
	p->c = c;
	if (mgr->auth->munger)
		p->munger = munger_get(mgr->auth->munger);
	p->deadline = clock_after_ms(MUNGE_MS);
	caller->proofs++;
	p->kind = le32toh(body->kind);
	p->len = rpc->msg.tail[0].len;
	memcpy(p->word, rpc->msg.tail[0].ptr, p->len);
	judge_proof(p);
}
