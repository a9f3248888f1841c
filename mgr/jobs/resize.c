/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * resize.c - executes a truncation.  Its end, the new size and the reply are one
 * transaction.  Waiting requests continue once that transaction is durable.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"
#include "mgr/request/reply.h"

#define WAIT_FIRST_MS 100u
#define WAIT_MAX_MS 5000u

static struct file_job *job_of_item(struct flusher_item *item)
{
	return container_of(item, struct file_job, item);
}

static void build_resize(struct file_job *job, uint32_t k, struct wire_out *out)
{
	const struct intent *in = &job->in;
	struct wire_resize body = {
		.handle = handle_to_wire(job->mgr->st, in->handle),
		.size = htole64(dist_local_size(&job->dist, k, in->size)),
		.id = htole64(in->id),
		.span = htole64(in->born ? in->expiry - in->born : UINT64_MAX),
		.flags = htole32(job->resumed ? WIRE_RZ_AGAIN : 0),
	};

	wire_put(out, &body, sizeof(body));
}

static void on_end_durable(struct flusher_item *item)
{
	struct file_job *job = job_of_item(item);
	struct request *owner = job->owner;
	int status = job->status;

	if (owner && status)
		owner->result = status;
	if (owner)
		owner->truncated = job->handle;
	job_finish(job);
}

static int record_end(struct file_job *job)
{
	struct mgr *mgr = job->mgr;
	struct ns_op op = mgr_own_op(mgr);
	int rc;

	rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	rc = ns_end_truncate(&op, &job->in, job->status);
	if (!rc)
		rc = reply_record_job_end(mgr, &job->in, job->status);
	job->item.durable = on_end_durable;
	return mgr_end_transaction(mgr, rc, &job->item);
}

static void on_end_timer(struct rpc_timer *timer);

/* A full disk may get space; until then the file stays busy. */
static void end_resize(struct file_job *job)
{
	int rc = record_end(job);

	if (!rc || store_failed(job->mgr->st))
		return;
	if (!job->wait_ms)
		log_error(job->mgr->log,
			  "truncation of file %llu: its end cannot be recorded: "
			  "%s; tried again until it can: see whether the disk "
			  "is full",
			  job_handle_external(job), strerror(-rc));
	job->wait_ms = job->wait_ms ? job->wait_ms * 2 : WAIT_FIRST_MS;
	if (job->wait_ms > WAIT_MAX_MS)
		job->wait_ms = WAIT_MAX_MS;
	job->again.fire = on_end_timer;
	rpc_timer_set(job->mgr->ctx, &job->again, clock_after_ms(job->wait_ms));
}

static void on_end_timer(struct rpc_timer *timer)
{
	end_resize(container_of(timer, struct file_job, again));
}

static void on_all_answered(struct file_job *job)
{
	/* any client may ask for too large a size; a timeout is already logged for the iod */
	if (job->status && job->status != -EFBIG && job->status != -ETIMEDOUT)
		log_error(job->mgr->log,
			  "truncation of file %llu to %llu bytes: an iod "
			  "answered: %s",
			  job_handle_external(job),
			  (unsigned long long)job->in.size,
			  strerror(-job->status));
	end_resize(job);
}

static const struct job_ops resize_ops = {
	.name = "truncation",
	.op = WIRE_RESIZE,
	.build = build_resize,
	.done = on_all_answered,
};

/*
 * The remaining time, ns; 0: it is late.  Times of another clock are not
 * comparable.
 */
static uint64_t time_left(const struct file_job *job)
{
	uint64_t now = clock_boot();

	if (job->in.clock != job->mgr->clock || job->in.expiry <= now)
		return 0;
	return job->in.expiry - now;
}

/*
 * Each iod executes the truncation before its caller's deadline, or never.  If an iod does not
 * answer, its result is unknown; the manager asks for it when a client requests the size.
 */
static int send_resize(struct file_job *job)
{
	uint64_t left = time_left(job);

	if (!left)
		return -ETIMEDOUT;
	job->deadline = clock_now() + left;
	return job_start(job);
}

static void start_resize(struct flusher_item *item)
{
	struct file_job *job = job_of_item(item);
	int rc = send_resize(job);

	if (!rc)
		return;
	log_warn(job->mgr->log,
		 "truncation of file %llu to %llu bytes: not begun: %s",
		 job_handle_external(job), (unsigned long long)job->in.size,
		 strerror(-rc));
	job->status = rc;
	end_resize(job);
}

struct file_job *resize_new(struct mgr *mgr, const struct intent *in)
{
	struct file_job *job = job_new(mgr, in->handle, &in->dist, &resize_ops);

	if (!job)
		return NULL;
	job->in = *in;
	job->item.durable = start_resize;
	return job;
}

struct flusher_item *resize_item(struct file_job *job)
{
	return &job->item;
}

void resize_set_owner(struct file_job *job, struct request *owner)
{
	job->owner = owner;
	job_wait(job, owner);
}

struct file_job *resize_find(struct mgr *mgr, uint64_t id)
{
	struct file_job *job, *next;

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
		struct file_job *job = resize_new(mgr, &in);

		if (!job)
			return -ENOMEM;
		after = in.id;
		job->resumed = true;
		start_resize(&job->item);
	}
	return rc == -ENOENT ? 0 : rc;
}
