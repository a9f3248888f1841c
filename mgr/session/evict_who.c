/* SPDX-License-Identifier: BSD-2-Clause */
/* evict_who.c - the sessions that an EVICT selects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/request/caller.h"
#include "mgr/session/evict_int.h"
#include "mgr/jobs/jobs.h"
#include "mgr/session/session.h"

struct choice {
	struct mgr *mgr;
	uint64_t asker, session;
	enum wire_evict_by by;
	uint32_t uid;
	char text[WIRE_EV_TEXT + 1];
	bool local;
	struct networks nets;
	struct ids *ids;
	int rc;
};

static int add(struct ids *ids, uint64_t id)
{
	size_t room = ids->room ? 2 * ids->room : 16;
	uint64_t *more;

	if (ids->n == ids->room) {
		more = realloc(ids->id, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		ids->id = more;
		ids->room = room;
	}
	ids->id[ids->n++] = id;
	return 0;
}

static bool is_of_job(struct rpc_session *session, const char *job)
{
	struct rpc_label label;

	rpc_session_label(session, &label);
	return strlen(job) <= sizeof(label.job) &&
	       !strncmp(label.job, job, sizeof(label.job));
}

static bool is_meant(const struct choice *c, struct rpc_session *session)
{
	const struct caller *caller = caller_of(session);

	switch (c->by) {
	case WIRE_EV_SESSION:
		return caller->id == c->session;
	case WIRE_EV_USER:
		return caller->cred.uid == c->uid;
	case WIRE_EV_JOB:
		return is_of_job(session, c->text);
	default:
		return c->local ? peer_is_here(caller->peer)
				: networks_have(&c->nets, caller->peer);
	}
}

static void look(void *arg, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);
	struct choice *c = arg;

	if (!c->rc && info->role == WIRE_ROLE_CLIENT && info->id != c->asker &&
	    is_meant(c, session))
		c->rc = add(c->ids, info->id);
}

/* Of an absent session only the user is known. */
static int look_away(void *arg, const struct session_rec *rec)
{
	struct choice *c = arg;

	return c->by == WIRE_EV_USER && rec->uid == c->uid
		       ? add(c->ids, rec->id)
		       : 0;
}

/*
 * A session that is selected by number may be ending, or may have ended while some iods
 * do not know yet.
 */
static int look_row(struct choice *c)
{
	struct session_rec rec;
	int rc = session_get(c->mgr->st, c->session, &rec);

	if (rc == -ENOENT)
		rc = fence_find(c->mgr, c->session);
	if (rc)
		return rc == -ENOENT ? -ESRCH : rc;
	return add(c->ids, c->session);
}

static int take(struct choice *c, const struct rpc_req *rpc)
{
	const struct wire_evict *body = rpc->msg.body;
	const struct wire_tail *text = &rpc->msg.tail[0];

	c->session = le64toh(body->session);
	c->by = le32toh(body->by);
	c->uid = le32toh(body->uid);
	memcpy(c->text, text->ptr, text->len);
	if (c->by == WIRE_EV_SESSION && c->session == c->asker)
		return -EINVAL;
	if (c->by != WIRE_EV_HOST)
		return 0;
	c->local = !strcmp(c->text, "local");
	return c->local ? 0 : networks_parse(c->text, &c->nets);
}

int evict_choose(struct op *op, struct ids *ids)
{
	struct choice c = { .mgr = op->mgr,
			    .asker = op->ns.session,
			    .ids = ids };
	int rc = take(&c, op->rpc);

	if (rc)
		return rc;
	rpc_server_each(op->mgr->server, look, &c);
	rc = c.rc ? c.rc : sessions_away(op->mgr, look_away, &c);
	if (!rc && c.by == WIRE_EV_SESSION && !ids->n)
		rc = look_row(&c);
	return rc;
}
