/* SPDX-License-Identifier: BSD-2-Clause */
/* session.c - what of a session is running, and how long it is needed. */
#include <stdlib.h>

#include "server/state/worker.h"

struct iod_session *session_find(struct worker *w, uint64_t id)
{
	struct iod_session *ses;

	LIST_FOREACH(ses, &w->sessions, link)
		if (ses->id == id)
			return ses;
	return NULL;
}

struct iod_session *session_of(struct rpc_req *req)
{
	return rpc_session_info(req->session)->priv;
}

void session_unref(struct iod_session *ses)
{
	if (--ses->refs)
		return;
	LIST_REMOVE(ses, link);
	session_rights_free(&ses->rights);
	dirty_objects_free(&ses->dirty, ses->worker->iod->store);
	disk_client_put(ses->disk_client);
	free(ses);
}

void session_work_begin(struct iod_session *ses)
{
	ses->refs++;
	ses->running++;
}

void session_work_end(struct iod_session *ses)
{
	struct session_idle_wait *wait;

	ses->running--;
	while (!ses->running && (wait = STAILQ_FIRST(&ses->waits))) {
		STAILQ_REMOVE_HEAD(&ses->waits, link);
		wait->idle(wait);
	}
	session_unref(ses);
}

void session_wait_idle(struct iod_session *ses, struct session_idle_wait *wait)
{
	if (ses->running)
		STAILQ_INSERT_TAIL(&ses->waits, wait, link);
	else
		wait->idle(wait);
}

bool session_is_stale(const struct iod_session *ses)
{
	return ses->term &&
	       !store_obeys(ses->worker->iod->store, ses->term, ses->id);
}
