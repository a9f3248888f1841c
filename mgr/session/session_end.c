/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_end.c - the end of a session.  The row records what is to be done before it
 * is begun, so that the next start can continue.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/session/adopt.h"
#include "mgr/session/evict.h"
#include "mgr/jobs/jobs.h"
#include "mgr/session/session_int.h"

/* A fence that must be durable before it is executed. */
struct pending {
	struct flusher_item item;
	struct mgr *mgr;
	struct intent in;
};

static void pending_durable(struct flusher_item *item)
{
	struct pending *p = (struct pending *)item;

	if (fenced_end_add(p->mgr, p->in.id, p->in.session))
		log_error(p->mgr->log,
			  "no memory to end session %016llx; the next start of "
			  "the mgr will",
			  (unsigned long long)p->in.session);
	fences_tell(p->mgr, p->in.id);
	fenced_ends_check(p->mgr);
	free(p);
}

/* A session that changed nothing has no row, and gets one if it is evicted. */
static int put_flags(struct mgr *mgr, uint64_t id, uint32_t flags)
{
	struct session_rec rec = { .id = id };
	int rc = session_get(mgr->st, id, &rec);
	bool evicted = evict_wants(mgr, id);

	if (rc == -ENOENT && evicted)
		rc = 0;
	if (evicted)
		flags |= SESSION_EVICTED;
	rec.flags = (rec.flags & (SESSION_DECLARES | SESSION_EVICTED)) | flags;
	return rc ? rc : session_put(mgr->st, &rec);
}

static int set_flags(struct mgr *mgr, uint64_t id, uint32_t flags)
{
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	rc = put_flags(mgr, id, flags);
	if (!rc)
		return mgr_commit(mgr, NULL);
	ns_abort(&mgr->ns);
	return rc;
}

/* Also records which fences the iods must get. */
static int put_fence(struct mgr *mgr, struct pending *p)
{
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	p->in.id = store_new_id(mgr->st);
	rc = put_flags(mgr, p->in.session, SESSION_FENCED);
	if (!rc)
		rc = intent_put(mgr->st, &p->in);
	if (!rc)
		return mgr_commit(mgr, &p->item);
	ns_abort(&mgr->ns);
	return rc;
}

int session_fence(struct mgr *mgr, uint64_t id)
{
	struct pending *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	p->item.durable = pending_durable;
	p->mgr = mgr;
	p->in.kind = INTENT_FENCE;
	p->in.session = id;
	p->in.op = evict_wants(mgr, id) ? WIRE_EVICT : 0;
	rc = put_fence(mgr, p);
	if (rc)
		free(p);
	return rc;
}

static int drop(struct mgr *mgr, uint64_t id, uint32_t flags)
{
	int rc = set_flags(mgr, id, SESSION_ENDED | flags);

	if (!rc)
		reap_later(mgr, id);
	return rc;
}

static void say(struct mgr *mgr, uint64_t id, int rc)
{
	if (rc)
		log_error(mgr->log,
			  "session %016llx cannot be ended: %s; the next start "
			  "of the mgr will",
			  (unsigned long long)id, strerror(-rc));
}

void session_over(struct mgr *mgr, uint64_t id, bool clean)
{
	say(mgr, id,
	    clean ? drop(mgr, id, SESSION_BYE) : session_fence(mgr, id));
}

void session_fenced(struct mgr *mgr, uint64_t id)
{
	say(mgr, id, drop(mgr, id, 0));
	adopts_wake(mgr);
}
