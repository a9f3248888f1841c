/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_objects.c - OBJECTS and REMOVE: lists and removes objects of the store.
 *
 * When the manager gets the answer, it forgets the removed objects.  So before the answer, the
 * removal is made durable, even with sync = off.  Later writes do not create the objects again
 * (recent_changes.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/op/op_int.h"

/* ---- OBJECTS, for pvfs-fsck ---- */

struct listing {
	struct store_place place;
	struct object_key key[WIRE_HANDLE_MAX];
	uint32_t nkeys;
	le64 number[2 * WIRE_HANDLE_MAX]; /* as in the answer */
	uint32_t n;
};

/*
 * Without keys, the answer cannot name objects of other groups.  To leave them out would hide them
 * from pvfs-fsck.
 */
static int set_numbers(const struct op_job *job, struct listing *l, bool keys)
{
	l->n = 0;
	for (uint32_t i = 0; i < l->nkeys; i++) {
		if (!keys && !object_key_is_own(l->key[i])) {
			log_error(job->worker->iod->log,
				  "cannot list the objects: %s belongs to a "
				  "group of iods, which pvfs-fsck does not "
				  "know; run that of this release",
				  object_key_text(l->key[i]).s);
			return -EOPNOTSUPP;
		}
		l->number[l->n++] = htole64(l->key[i].handle);
		if (keys)
			l->number[l->n++] = htole64(l->key[i].copyset);
	}
	return 0;
}

static int list_objects(struct op_job *job)
{
	const struct wire_walk *body = job->req->msg.body;
	uint32_t keys = le32toh(body->keys);
	struct listing *l = malloc(sizeof(*l));
	int rc;

	job->req->priv = l;
	if (!l)
		return -ENOMEM;
	l->place = (struct store_place){ le32toh(body->place),
					 { le64toh(body->after),
					   keys & ~WIRE_WALK_KEYS } };
	rc = store_walk(job->worker->iod->store, &l->place, l->key,
			WIRE_HANDLE_MAX, &l->nkeys);
	return rc ? rc : set_numbers(job, l, keys);
}

static void send_listing(struct op_job *job, int status)
{
	struct listing *l = job->req->priv;
	struct wire_walk_rep rep;

	if (!status) {
		rep = (struct wire_walk_rep){
			.after = htole64(l->place.after.handle),
			.place = htole32(l->place.leaf),
			.n = htole32(l->n),
		};
		op_reply(job->req, &rep, sizeof(rep), l->number,
			 l->n * sizeof(l->number[0]), RPC_REEXECUTE);
		free(job);
	} else {
		op_job_reply(job, status);
	}
	free(l);
}

void op_objects(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, DISK_READ, list_objects, send_listing);
}

/* ---- REMOVE ---- */

/* Object i of the request. */
static struct object_key key_to_remove(const struct rpc_req *req, uint32_t i)
{
	const struct wire_remove *body = req->msg.body;
	const le64 *handle = req->msg.tail[0].ptr;
	const le32 *copyset = req->msg.tail[1].ptr;

	return (struct object_key){ le64toh(handle[i]),
				    body->copysets ? le32toh(copyset[i]) : 0 };
}

static int remove_all(struct op_job *job, bool durable)
{
	const struct wire_remove *body = job->req->msg.body;
	struct iod *iod = job->worker->iod;
	uint32_t i, n = le32toh(body->n);
	struct object_key key;
	int rc, first = 0;

	for (i = 0; i < n; i++) {
		if (rpc_req_late(job->req))
			return -ETIMEDOUT;
		key = key_to_remove(job->req, i);
		recent_removal_add(iod->recent, key);
		rc = store_remove(iod->store, key, durable);
		loan_object_drop(iod->loans, key);
		counters_remove_file(iod->counters, key);
		if (!rc)
			continue;
		log_error(iod->log, "cannot remove object %s: %s",
			  object_key_text(key).s, strerror(-rc));
		first = first ? first : rc;
	}
	return first;
}

static int remove_objects(struct op_job *job)
{
	int rc = remove_all(job, false);

	if (rc || store_in_memory(job->worker->iod->store))
		return rc;
	return remove_all(job, true);
}

void op_remove(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, DISK_CHANGE, remove_objects, op_job_reply);
}
