/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_auth.c - what a session shows to the servers: the credentials of the process at
 * each connection, and to the manager what proves them (CHALLENGE, then AUTH).
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/session/server_call.h"
#include "client/lib/session/coroutine.h"
#include "client/lib/session/client_session_int.h"
#include "common/util/container.h"

#define FILE_NAME PVFS_PLUGINS "/libpvfs-auth.so"

static const struct client_auth_ops *prove_load(const struct log *log)
{
	const char *other = secure_getenv("PVFS_AUTH_LIBRARY");
	/* RTLD_LAZY, because binding all of libcrypto takes as long as a connect. */
	void *so = dlopen(other ? other : FILE_NAME, RTLD_LAZY | RTLD_LOCAL);
	const struct client_auth_ops *(*ops)(void) = NULL;
	void *symbol = so ? dlsym(so, CLIENT_AUTH_SYMBOL) : NULL;

	if (!symbol) {
		log_error(log,
			  "auth= in pvfstab needs libpvfs-auth.so, of the same "
			  "release: %s",
			  dlerror());
		return NULL;
	}
	*(void **)&ops = symbol;
	return ops();
}

/* A busy manager may take longer to answer than it has in the first round. */
#define PROBE_MORE_ROUNDS 1u

#define TRIES 5
#define PAUSE_MS 200 /* doubled for each retry */

int session_auth_open(struct session *s, const struct session_auth_attr *attr)
{
	const struct client_auth_attr ca = { .mode = attr->mode,
					     .seal = attr->seal,
					     .key = attr->key,
					     .munge_socket = attr->munge_socket,
					     .server_uid = attr->server_uid,
					     .where = attr->where,
					     .log = s->log };

	if (attr->mode == AUTH_SYS)
		return 0;
	s->seal = attr->seal;
	s->auth_ops = prove_load(s->log);
	return s->auth_ops ? s->auth_ops->open(&ca, &s->auth) : -ELIBACC;
}

void session_auth_close(struct session *s)
{
	if (s->auth)
		s->auth_ops->close(s->auth);
	s->auth = NULL;
}

void session_auth_log_missing(const struct session *s,
			      const struct rpc_peer *peer)
{
	log_error(s->log,
		  "%s: the servers require authentication ([filesystem] "
		  "auth): write auth=munge, or auth=key and key=FILE, in the "
		  "options of the mount in pvfstab",
		  rpc_peer_name(peer));
}

/* ---- CHALLENGE ---- */

struct challenge {
	struct rpc_peer *peer;
	struct wire_challenge_rep rep;
	struct client_auth_way way;
};

/* Runs on the driving thread, so the reply's connection is the present one. */
static int take_challenge(void *arg, const struct wire_msg *reply)
{
	struct challenge *c = arg;

	/* fields that an earlier release does not send are zero */
	memcpy(&c->rep, reply->body, reply->body_len);
	c->way.epoch = rpc_peer_epoch(c->peer);
	c->way.boot = rpc_peer_boot(c->peer);
	c->way.local = !strcmp(rpc_peer_transport(c->peer), "local");
	/* a sealed connection needs no further agreement */
	c->way.seals = rpc_peer_seals(c->peer) && !rpc_peer_seal(c->peer);
	if (!(le32toh(c->rep.flags) & WIRE_CH_SEAL_IN_PLACE))
		rpc_peer_stop_transcript(c->peer);
	c->way.seal_in_place = rpc_peer_can_seal_late(c->peer);
	return 0;
}

static int ask_challenge(struct session *s, struct challenge *c)
{
	struct wire_challenge body;
	struct server_call ask;
	int rc = s->auth_ops->begin(s->auth, &body);

	if (rc)
		return rc;
	server_call_begin(&ask, s, c->peer);
	server_call_put(&ask, &body, sizeof(body));
	return server_call_run(&ask, WIRE_CHALLENGE, take_challenge, c);
}

/* ---- AUTH ---- */

/* Checked by the waiting thread, not the driving one, because munged may be slow. */
struct answer {
	struct wire_auth_rep rep;
	size_t len[2];
	uint8_t ticket[WIRE_TICKET_MAX], word[WIRE_WORD_MAX];
};

static int take_answer(void *arg, const struct wire_msg *reply)
{
	const struct wire_tail *tail = reply->tail;
	struct answer *a = arg;

	memcpy(&a->rep, reply->body, sizeof(a->rep));
	memcpy(a->ticket, tail[0].ptr, tail[0].len);
	memcpy(a->word, tail[1].ptr, tail[1].len);
	a->len[0] = tail[0].len;
	a->len[1] = tail[1].len;
	return 0;
}

static int answer_check(struct session *s, const struct answer *a)
{
	const struct wire_msg reply = { .body = &a->rep,
					.tail = { { a->ticket, a->len[0] },
						  { a->word, a->len[1] } } };
	uint64_t life;
	int rc = s->auth_ops->end(s->auth, &reply, &life);

	if (!rc) {
		s->ticket_ns = life;
		atomic_store(&s->ticket_at, clock_now());
	}
	return rc;
}

static int send_auth(struct session *s, struct challenge *c,
		     struct answer *answer)
{
	struct wire_auth body;
	struct server_call ask;
	int rc = s->auth_ops->word(s->auth, &c->way, &c->rep, &body,
				   answer->word);

	if (rc)
		return rc;
	server_call_begin(&ask, s, c->peer);
	server_call_put(&ask, &body, sizeof(body));
	server_call_put(&ask, answer->word, le32toh(body.len));
	return server_call_run(&ask, WIRE_AUTH, take_answer, answer);
}

struct sealed {
	struct drive_op op;
	struct rpc_peer *peer;
	uint32_t epoch;
	struct seal_in_place in_place;
};

static void connection_seal(struct drive_op *op)
{
	struct sealed *r = container_of(op, struct sealed, op);

	if (!r->in_place.mode ||
	    rpc_peer_seal_late(r->peer, r->epoch, &r->in_place) == -ESTALE)
		rpc_peer_reconnect(r->peer);
}

/*
 * After AUTH the manager accepts nothing on an unsealed connection.  So this connection is
 * sealed in place, or replaced by one that is sealed with the ticket.  Once the manager may
 * have sealed it, nothing unsealed may be sent.  It may have sealed it even if its answer
 * did not arrive, or if its proof is wrong.
 */
static void seal_after_auth(struct session *s, const struct challenge *c,
			    bool answered, int rc)
{
	const uint32_t flags = le32toh(c->rep.flags);
	struct sealed r = { .op.start = connection_seal,
			    .peer = c->peer,
			    .epoch = c->way.epoch };

	if (answered)
		r.in_place = s->auth_ops->seal_in_place(s->auth);
	if (flags & WIRE_CH_SEAL_IN_PLACE ||
	    (!rc && flags & WIRE_CH_SEAL && c->peer == s->mgr))
		op_run(&s->drive, &r.op);
}

static int ask_auth(struct session *s, struct challenge *c)
{
	struct answer *answer = calloc(1, sizeof(*answer));
	bool answered;
	int rc;

	if (!answer)
		return -ENOMEM;
	c->way.fsid = s->fsid;
	c->way.session = s->id;
	c->way.peer = rpc_peer_name(c->peer);
	c->way.deadline = session_deadline(s);
	rc = send_auth(s, c, answer);
	answered = !rc;
	if (answered)
		rc = answer_check(s, answer);
	if (answered || rc == -ETIMEDOUT)
		seal_after_auth(s, c, answered, rc);
	free(answer);
	return rc;
}

static const char *prove_failure_text(int rc)
{
	switch (rc) {
	case -EAGAIN:
		return "the manager cannot look at it now; see its log";
	case -EHOSTDOWN:
		return "munged on the manager's host does not answer: start it "
		       "there (systemctl start munge)";
	case -ECOMM:
		return "munged on this host does not answer: start it "
		       "(systemctl start munge), or write munge_socket=PATH "
		       "in pvfstab";
	case -ETIME:
	case -ERANGE:
		return "the manager's host has another time than this one: let "
		       "both have the same (chronyc tracking)";
	case -EALREADY:
		return "the credential of this program was shown before: it "
		       "was stolen; see the manager's log";
	case -ENOKEY:
		return "its key is not that of the servers: copy the file of "
		       "[filesystem] key (auth=key), or /etc/munge/munge.key "
		       "(auth=munge)";
	case -WIRE_ENOFILES:
		return RPC_NO_FILES;
	case -WIRE_ENOSEATS:
		return RPC_NO_SEATS;
	case -ESTALE:
		return "the session ended before: more clients come at once "
		       "than the manager has places for";
	case -EPERM:
		return "this program has changed its user; files that it had "
		       "open before fail when its ticket expires";
	case -EKEYREJECTED:
		return "the manager does not take what this program shows for "
		       "true; see its log";
	default:
		return strerror(-rc);
	}
}

static int prove_once(struct session *s, struct rpc_peer *peer)
{
	struct challenge c = { .peer = peer };
	int rc = ask_challenge(s, &c);

	if (!rc)
		rc = ask_auth(s, &c);
	return rc;
}

static bool failure_is_temporary(int rc)
{
	return rc == -EAGAIN || rc == -EBUSY || rc == -ECOMM ||
	       rc == -EHOSTDOWN || rc == -WIRE_ENOFILES || rc == -WIRE_ENOSEATS;
}

/*
 * The retries are limited and spread, because many clients may connect concurrently.  If
 * the last try runs out of time, the reason of the earlier ones is returned.
 */
static int prove_with_retries(struct session *s, struct rpc_peer *peer)
{
	int pause = PAUSE_MS, rc = 0, before = 0;

	for (int i = 0; i < TRIES; i++, pause *= 2) {
		rc = prove_once(s, peer);
		if (rc == -ETIMEDOUT && before)
			return before;
		before = rc;
		if (!failure_is_temporary(rc) ||
		    clock_after_ms((unsigned int)pause) >= session_deadline(s))
			break;
		poll(NULL, 0,
		     pause / 2 + (int)(s->first % (unsigned int)pause) / 2);
	}
	return rc;
}

int session_auth_run(struct session *s, struct rpc_peer *peer)
{
	int rc = s->auth ? prove_with_retries(s, peer) : 0;

	if (rc)
		log_error(s->log, "%s: no ticket: %s", rpc_peer_name(peer),
			  prove_failure_text(rc));
	return rc;
}

/* ---- opening a server ---- */

/* Sets host:pid:program, for the servers' logs. */
static void cred_name(struct rpc_cred *cred)
{
	char host[32] = "?";

	gethostname(host, sizeof(host) - 1);
	snprintf(cred->name, sizeof(cred->name), "%.20s:%ld:%.20s", host,
		 (long)getpid(), program_invocation_short_name);
}

/* *own: see gid_list_make(). */
static int cred_get(struct rpc_cred *cred, struct numbered_gids **own)
{
	int n = getgroups(0, NULL);
	gid_t *groups;

	_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "a group");
	if (n < 0)
		return -errno;
	groups = calloc((size_t)n + 1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	n = getgroups(n, groups); /* another thread may have set more groups */
	*cred = (struct rpc_cred){ .uid = geteuid(), .gid = getegid() };
	n = n < 0 ? -errno
		  : gid_list_make(groups, (uint32_t)n, cred->groups, own);
	free(groups);
	if (n < 0)
		return n;
	cred->ngroups = (uint32_t)n;
	cred_name(cred);
	return 0;
}

/*
 * Returns the value of PVFS_JOB_ID, or else SLURM_JOB_ID.  NULL: not set, or no valid
 * label: longer than WIRE_JOB_MAX, or with unprintable characters.  The environment owns
 * the text.
 */
static const char *job_id(void)
{
	const char *text = secure_getenv("PVFS_JOB_ID");
	size_t len;

	if (!text)
		text = secure_getenv("SLURM_JOB_ID");
	len = text ? strnlen(text, WIRE_JOB_MAX + 1) : 0;
	return len && wire_job_ok(text, len) ? text : NULL;
}

int session_peer_open(struct session *s, struct rpc_peer_attr *attr,
		      struct rpc_peer **peer)
{
	struct numbered_gids *own = NULL;
	struct rpc_cred cred;
	int rc = cred_get(&cred, &own);

	if (rc)
		return rc;
	if (s->own) /* keep the list that the manager has */
		free(own);
	else
		s->own = own;
	attr->role = WIRE_ROLE_CLIENT;
	attr->fsid = s->fsid;
	attr->session = s->id;
	attr->cred = &cred;
	attr->job = job_id();
	attr->features |= s->tool ? WIRE_FT_TOOL : 0;
	attr->prover = s->auth ? s->auth_ops->prover(s->auth) : NULL;
	attr->seal = s->seal;
	attr->impatient = s->probe;
	attr->more_rounds = PROBE_MORE_ROUNDS;
	attr->patience_ms = s->together ? s->timeout_ms : 0;
	return rpc_peer_open(s->drive.ctx, attr, peer);
}

/* ---- the ticket of a session ---- */

/* A connection to the manager, while other operations of the session continue. */
struct visit {
	struct drive_op op;
	struct session *s;
	struct rpc_peer *peer;
	int rc;
};

static void visit_start(struct drive_op *op)
{
	struct visit *v = container_of(op, struct visit, op);
	struct rpc_peer_attr mgr = { .addr = v->s->proves_at[0],
				     .managers = v->s->proves_at,
				     .nmanagers = v->s->nproves,
				     .name = "mgr",
				     .server = WIRE_ROLE_MGR };

	v->rc = session_peer_open(v->s, &mgr, &v->peer);
}

static void visit_end(struct drive_op *op)
{
	rpc_peer_close(container_of(op, struct visit, op)->peer, true);
}

/* The manager ends the session that this creates when the connection closes. */
static int prove_elsewhere(struct session *s)
{
	struct visit v = { .op.start = visit_start, .s = s };
	int rc = op_run(&s->drive, &v.op);

	if (!rc)
		rc = v.rc;
	if (rc)
		return rc;
	rc = session_auth_run(s, v.peer);
	v.op = (struct drive_op){ .start = visit_end };
	op_run(&s->drive, &v.op);
	return rc;
}

static int prove_anywhere(struct session *s)
{
	return s->elsewhere ? prove_elsewhere(s) : session_auth_run(s, s->mgr);
}

int session_prove(struct session *s, const struct session_attr *attr)
{
	if (!s->auth)
		return 0;
	s->elsewhere = attr->auth.iod;
	if (s->elsewhere) {
		s->nproves = attr->auth.nmgrs;
		memcpy(s->proves_at, attr->auth.mgr,
		       s->nproves * sizeof(s->proves_at[0]));
	}
	return prove_anywhere(s);
}

uint64_t session_auth_renew(struct session *s)
{
	if (prove_anywhere(s))
		return ticket_retry_at(s);
	log_info(s->log, "%s: has another ticket", rpc_peer_name(s->mgr));
	return ticket_due(s);
}
