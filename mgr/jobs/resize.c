/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resize.c - carries out a truncation.  Its end, the new size and the reply
 * are one transaction; whoever waits hears of it when that is durable.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jobs_impl.h"
#include "reply.h"

static struct job *job_of_item(struct flusher_item *item)
{
	return container_of(item, struct job, item);
}

static void build(struct fan *fan, uint32_t k, struct wire_out *out)
{
	const struct intent *in = &job_of_fan(fan)->in;
	struct dist d = { in->base, in->pcount, in->ssize };
	struct wire_resize body = {
		.handle = htole64(in->handle),
		.size = htole64(dist_local_size(&d, k, in->size)),
	};

	wire_put(out, &body, sizeof(body));
}

static void finished(struct flusher_item *item)
{
	struct job *job = job_of_item(item);
	struct request *owner = job->owner;
	int status = job->fan.status;

	if (owner && status)
		owner->result = status;
	if (owner)
		owner->truncated = job->handle;
	job_over(job);
}

static int record_end(struct job *job)
{
	struct mgr *mgr = job->mgr;
	struct ns_op op = mgr_own_op(mgr);
	int rc;

	rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	rc = ns_resized(&op, &job->in, job->fan.status);
	if (!rc)
		rc = reply_record_job_end(mgr, &job->in, job->fan.status);
	if (rc) {
		ns_abort(&mgr->ns);
		return rc;
	}
	job->item.durable = finished;
	return mgr_commit(mgr, &job->item);
}

static void done(struct fan *fan)
{
	struct job *job = job_of_fan(fan);

	/* anybody may ask for too much */
	if (fan->status && fan->status != -EFBIG)
		log_error(job->mgr->log,
			  "truncation of file %llu to %llu bytes: an iod "
			  "answered: %s",
			  (unsigned long long)job->handle,
			  (unsigned long long)job->in.size,
			  strerror(-fan->status));
	/* on failure the store is gone, and the mgr with it */
	record_end(job);
}

static const struct fan_ops resize_ops = {
	.op = WIRE_RESIZE,
	.build = build,
	.done = done,
	.refused = job_refused,
};

/* Without memory the file stays busy until the next start carries on. */
static void launch(struct flusher_item *item)
{
	struct job *job = job_of_item(item);
	const struct intent *in = &job->in;
	int rc;

	rc = fan_start(job->mgr, &job->fan, &resize_ops, in->base, in->pcount);
	if (rc)
		log_error(job->mgr->log,
			  "truncation of file %llu: %s; restart the mgr",
			  (unsigned long long)in->handle, strerror(-rc));
}

struct job *resize_new(struct mgr *mgr, const struct intent *in)
{
	struct job *job = job_new(mgr, in->handle, in->pcount, "truncation");

	if (!job)
		return NULL;
	job->in = *in;
	job->item.durable = launch;
	return job;
}

struct flusher_item *resize_item(struct job *job)
{
	return &job->item;
}

void resize_adopt(struct job *job, struct request *owner)
{
	job->owner = owner;
	job_wait(job, owner);
}

struct job *resize_find(struct mgr *mgr, uint64_t id)
{
	struct job *job, *next;

	HASH_ITER(hh, mgr->jobs->table, job, next)
		if (job->in.id == id)
			return job;
	return NULL;
}

int resize_resume(struct mgr *mgr)
{
	struct intent in;
	uint64_t after = 0;
	int rc;

	while (!(rc = intent_next(mgr->st, INTENT_RESIZE, after, &in))) {
		struct job *job = resize_new(mgr, &in);

		if (!job)
			return -ENOMEM;
		after = in.id;
		launch(&job->item);
	}
	return rc == -ENOENT ? 0 : rc;
}
