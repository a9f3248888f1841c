/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session_end.c - a session ends.  The row says what is to be done before it
 * is begun, so that the next start can carry on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"
#include "opens.h"
#include "session_table.h"

/* A fence that has to be durable before it is carried out. */
struct pending {
	struct flusher_item item;
	struct mgr *mgr;
	uint64_t id;
};

static void pending_durable(struct flusher_item *item)
{
	struct pending *p = (struct pending *)item;

	fence_start(p->mgr, p->id);
	free(p);
}

static int put_flags(struct mgr *mgr, uint64_t id, uint32_t flags)
{
	struct session_rec rec;
	int rc = session_get(mgr->st, id, &rec);

	rec.flags = flags;
	return rc ? rc : session_put(mgr->st, &rec);
}

static int set_flags(struct mgr *mgr, uint64_t id, uint32_t flags,
		     struct flusher_item *item)
{
	int rc = ns_begin(&mgr->ns);

	if (rc)
		return rc;
	rc = put_flags(mgr, id, flags);
	if (!rc)
		return mgr_commit(mgr, item);
	ns_abort(&mgr->ns);
	return rc;
}

static int fence(struct mgr *mgr, uint64_t id)
{
	struct pending *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return -ENOMEM;
	p->item.durable = pending_durable;
	p->mgr = mgr;
	p->id = id;
	rc = set_flags(mgr, id, SESSION_FENCED, &p->item);
	if (rc)
		free(p);
	return rc;
}

static int drop(struct mgr *mgr, uint64_t id, bool clean)
{
	uint32_t flags = SESSION_ENDED | (clean ? SESSION_BYE : 0);
	int rc = set_flags(mgr, id, flags, NULL);

	if (!rc)
		reap_later(mgr, id);
	return rc;
}

void session_over(struct mgr *mgr, uint64_t id, bool clean)
{
	struct open_rec rec;
	bool writes = !clean && !open_any(mgr->st, id, &rec);
	int rc = writes ? fence(mgr, id) : drop(mgr, id, clean);

	if (rc)
		log_error(mgr->log,
			  "session %016llx cannot be ended: %s; the next start "
			  "of the mgr will",
			  (unsigned long long)id, strerror(-rc));
}

void session_fenced(struct mgr *mgr, uint64_t id)
{
	reap_later(mgr, id);
}
