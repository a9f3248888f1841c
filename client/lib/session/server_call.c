/* SPDX-License-Identifier: BSD-2-Clause */
/* server_call.c - single requests, with and without waiting for the reply. */
#include "client/lib/session/server_call.h"
#include "client/lib/session/coroutine.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/call_context.h"
#include "client/lib/session/broadcast.h"

#define POSTED_MAX 16u
/* Maximum of requests kept until the server answers: a megabyte of memory. */
#define KEPT_MAX 4096u
#define LATE_MAX 16u
#define GROUPS_PAUSE_MS 50
#define GROUPS_TRIES 4

void server_call_begin(struct server_call *c, struct session *s,
		       struct rpc_peer *peer)
{
	c->s = s;
	c->peer = peer;
	c->dist = NULL;
	c->once = false;
	c->keep = false;
	c->late = false;
	c->patient = false;
	c->caps = false;
	c->begins = NULL;
	c->as = NULL;
	c->redirect = NULL;
	c->which = NULL;
	c->mem = NULL;
	wire_begin(&c->out, c->buf, sizeof(c->buf));
}

void server_call_begin_object(struct server_call *c, struct session *s,
			      const struct dist *dist, uint32_t k)
{
	uint32_t iod = session_iod(s, dist, k);

	server_call_begin(c, s, iod == UINT32_MAX ? s->mgr : s->iod[iod]);
	c->dist = dist;
	c->k = k;
}

void server_call_put(struct server_call *c, const void *item, size_t len)
{
	wire_put(&c->out, item, len);
}

static int redirect_read(struct server_call *c, const struct wire_msg *reply)
{
	const struct wire_path_rep *rep = reply->body;
	const struct wire_tail *path = &reply->tail[0];

	if (!c->redirect || !path->len || path->len >= PATH_MAX) {
		log_error(c->s->log,
			  "%s: protocol error in a reply: redirection",
			  rpc_peer_name(c->peer));
		return -EPROTO;
	}
	memcpy(c->redirect, path->ptr, path->len);
	c->redirect[path->len] = '\0';
	if (c->which)
		*c->which = le32toh(rep->which);
	return WIRE_REDIRECT;
}

static void ask_done(struct rpc_call *rpc)
{
	struct server_call *c = rpc->arg;
	int rc = rpc->status;

	if (rc == WIRE_REDIRECT)
		rc = redirect_read(c, &rpc->reply);
	else if (!rc && c->take)
		rc = c->take(c->arg, &rpc->reply);
	if ((rc == -ESTALE || rc == -EKEYREJECTED) && c->once && rpc->unsure) {
		log_error(c->s->log,
			  "%s: the session ended during a change: it was "
			  "made, or not",
			  rpc_peer_name(c->peer));
		rc = -ECONNABORTED;
	}
	if (rpc->reply.hdr)
		c->s->heard = clock_now();
	/* a request that was not sent says nothing about the iods */
	c->look = rc == -ENXIO ||
		  (rc == -ETIMEDOUT && (rpc->unsure || rpc->reply.hdr) &&
		   rpc_peer_ready(c->peer));
	op_put(&c->op, rc);
}

/* Returns 0 or -ENOMEM. */
static int ask_start_call(struct server_call *c)
{
	if (c->dist)
		return copyset_call_start(&c->call, c->s, c->dist, c->k);
	rpc_call_start(c->peer, &c->call.rpc);
	return 0;
}

static void ask_start(struct drive_op *op)
{
	struct server_call *c = (struct server_call *)op;

	if (c->begins && !c->begins(c->arg)) {
		op->err = -EINTR;
		return;
	}
	op->err = ask_start_call(c);
	if (!op->err)
		op_get(op);
}

static int ask_ping(struct session *s, struct rpc_peer *peer)
{
	struct server_call c;

	server_call_begin(&c, s, peer);
	return server_call_run(&c, WIRE_PING, NULL, NULL);
}

/* The driving thread writes heard.  An outdated value only costs a PING. */
static bool ask_quiet(const struct session *s)
{
	return clock_now() - s->heard > SERVER_CALL_QUIET_MS * CLOCK_NS_PER_MS;
}

static void user_put(struct server_call *c)
{
	struct {
		struct wire_as as;
		le32 groups[WIRE_GROUPS_MAX];
	} item = { .as = { .uid = htole32(c->as->uid),
			   .gid = htole32(c->as->gid),
			   .ngroups = htole32(c->as->ngroups) } };

	for (uint32_t i = 0; i < c->as->ngroups; i++)
		item.groups[i] = htole32(c->as->groups[i]);
	wire_put(&c->out, &item,
		 sizeof(item.as) + c->as->ngroups * sizeof(le32));
}

static int ask_send(struct server_call *c)
{
	int rc;

	c->look = false;
	c->op.start = ask_start;
	c->op.finish = NULL;
	c->call.rpc = (struct rpc_call){
		.msg = c->buf,
		.msg_len = c->out.len,
		.area = &c->mem,
		.nareas = c->mem ? 1 : 0,
		.pieces_at = c->mem_at,
		.npieces = 1,
		.deadline = session_deadline(c->s),
		.user = call_user(),
		.patient = c->patient,
		.done = ask_done,
		.arg = c,
	};
	rc = op_run(&c->s->drive, &c->op);
	/* the manager may have waited for an iod: check all iods */
	if (c->look && c->peer == c->s->mgr && c->s->niods)
		iods_check(c->s);
	return rc;
}

/* A manager of an earlier release would take the number of a list for group numbers. */
static int groups_check_support(const struct server_call *c)
{
	int rc = 0;

	if (!c->as || c->as->rc)
		return c->as ? c->as->rc : 0;
	if (!wire_groups_listed(c->as->groups, c->as->ngroups))
		return 0;
	/* its features are unknown before the first contact */
	if (!rpc_peer_features(c->peer))
		rc = ask_ping(c->s, c->peer);
	if (rc || rpc_peer_features(c->peer) & WIRE_FT_GROUPS)
		return rc;
	log_error(c->s->log,
		  "%s: a request of user %u is rejected: the user is in more "
		  "than %u groups, which this release of the manager does "
		  "not support: upgrade the manager",
		  rpc_peer_name(c->peer), c->as->uid, WIRE_GROUPS_MAX);
	return -E2BIG;
}

/* ---- groups that the manager lacks ---- */

static int groups_part(struct session *s, uint64_t number, uint32_t first,
		       struct gid_list_part *part)
{
	if (!number)
		return s->own ? gid_list_part(s->own, first, part) : -EAGAIN;
	return s->gid_lists ? gid_lists_part(s->gid_lists, number, first, part)
			    : -EAGAIN;
}

static int send_groups_once(struct session *s, uint64_t number)
{
	struct gid_list_part part;
	uint32_t first = 0;
	struct server_call c;
	int n, rc = 0;

	for (; !rc; first += (uint32_t)n) {
		n = groups_part(s, number, first, &part);
		if (n <= 0)
			return n;
		server_call_begin(&c, s, s->mgr);
		server_call_put(&c, &part.head, sizeof(part.head));
		server_call_put(&c, part.gid, (size_t)n * sizeof(part.gid[0]));
		rc = server_call_run(&c, WIRE_GROUPS, NULL, NULL);
	}
	return rc;
}

/*
 * The manager may drop the list in favour of other lists before its last part arrives.  So
 * try again.
 */
int server_call_send_groups(struct session *s, uint64_t number)
{
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < GROUPS_TRIES; i++)
		rc = send_groups_once(s, number);
	return rc;
}

/* Sends the group list that the manager lacks for the request, or for the session. */
static int send_groups(struct server_call *c)
{
	struct session *s = c->s;
	int rc;

	if (c->as)
		return server_call_send_groups(s,
					       wire_groups_list(c->as->groups));
	rc = s->auth ? session_await_ticket(s) : server_call_send_groups(s, 0);
	if (rc != -EAGAIN)
		return rc;
	poll(NULL, 0, GROUPS_PAUSE_MS); /* a new ticket was already received */
	return 0;
}

int server_call_run(struct server_call *c, enum wire_op wire_op,
		    server_call_take take, void *arg)
{
	int rc = groups_check_support(c), sent;

	if (!rc && c->once && ask_quiet(c->s))
		rc = ask_ping(c->s, c->peer);
	if (rc)
		return rc;
	if (c->as)
		user_put(c);
	if (wire_end(&c->out, wire_op,
		     (c->as ? WIRE_F_AS : 0) | (c->caps ? WIRE_F_CAPS : 0),
		     0) < 0)
		return -ENAMETOOLONG;
	c->take = take;
	c->arg = arg;
	rc = ask_send(c);
	while (rc == -WIRE_ENOGROUPS && clock_now() < session_deadline(c->s)) {
		sent = send_groups(c);
		if (sent)
			return sent;
		rc = ask_send(c);
	}
	return rc == -WIRE_ENOGROUPS ? -ETIMEDOUT : rc;
}

/* ---- requests without waiting ---- */

struct posted {
	struct drive_op op;
	struct rpc_call rpc;
	struct session *s;
	struct rpc_peer *peer;
	const char *what;
	bool keep; /* resend until it is answered */
	bool again; /* it was sent before and not answered */
	uint64_t msg[];
};

static void posted_send(struct posted *p)
{
	p->rpc.deadline = clock_after_ms(p->s->timeout_ms);
	rpc_call_start(p->peer, &p->rpc);
}

/* No caller waits for a failure, so the request is sent again until the server answers. */
static void posted_done(struct rpc_call *rpc)
{
	struct posted *p = rpc->arg;
	int rc = rpc->status;

	if (rc == -ETIMEDOUT && p->keep) {
		p->again = true;
		rpc->quiet = true;
		posted_send(p);
		return;
	}
	if (p->again && rc == -EBADF) /* an earlier copy was executed */
		rc = 0;
	if (rc)
		log_warn(p->s->log, "%s: %s: %s", rpc_peer_name(p->peer),
			 p->what, strerror(-rc));
	op_put(&p->op, rc);
}

static void posted_start(struct drive_op *op)
{
	op_get(op);
	posted_send((struct posted *)op);
}

static void posted_finish(struct drive_op *op)
{
	struct posted *p = (struct posted *)op;

	atomic_fetch_sub(&p->s->posted, 1);
	free(p);
}

static void post_waiting(struct server_call *c, enum wire_op wire_op,
			 const char *what)
{
	int rc = server_call_run(c, wire_op, NULL, NULL);

	if (rc)
		log_warn(c->s->log, "%s: %s: %s", rpc_peer_name(c->peer), what,
			 strerror(-rc));
}

void server_call_post(struct server_call *c, enum wire_op wire_op,
		      const char *what)
{
	struct drive *drive = &c->s->drive;
	struct posted *p = NULL;

	if (atomic_fetch_add(&c->s->posted, 1) <
	    (c->keep ? KEPT_MAX : POSTED_MAX))
		p = malloc(sizeof(*p) + c->out.len);
	if (!p) {
		atomic_fetch_sub(&c->s->posted, 1);
		post_waiting(c, wire_op, what);
		return;
	}
	wire_end(&c->out, wire_op, 0, 0);
	memcpy(p->msg, c->buf, c->out.len);
	*p = (struct posted){
		.op = { .start = posted_start, .finish = posted_finish },
		.s = c->s,
		.peer = c->peer,
		.what = what,
		.keep = c->keep,
		.rpc = { .msg = p->msg,
			 .msg_len = c->out.len,
			 .patient = true,
			 .done = posted_done,
			 .arg = p },
	};
	if (c->late && atomic_load(&drive->nsubmitted) < LATE_MAX)
		drive_submit(drive, &p->op);
	else
		op_post(drive, &p->op);
}

bool late_calls_wait(struct session *s)
{
	return atomic_load(&s->drive.nsubmitted);
}

void late_calls_send(struct session *s)
{
	drive_kick(&s->drive);
}
