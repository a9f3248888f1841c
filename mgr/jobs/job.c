/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.c - the job of a file: its calls to the iods of the file, the requests that wait for it, and
 * the limit of the calls of all jobs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mgr/jobs/jobs_int.h"

struct file_job *job_lookup(struct mgr *mgr, uint64_t handle)
{
	struct file_job *job;

	HASH_FIND(hh, mgr->jobs->table, &handle, sizeof(handle), job);
	return job;
}

struct file_job *job_find(struct mgr *mgr, uint64_t handle)
{
	struct file_job *job = job_lookup(mgr, handle);

	if (!job || !job->in_background)
		return job;
	job_free(job);
	return NULL;
}

/* ---- calls to the iods ---- */

/* Finds the iod of the call, and the copyset that it names. */
static int find_iod(struct job_call *c)
{
	return mgr_copyset_iod(c->job->mgr, &c->job->dist, c->k,
			       &c->call.copyset, &c->iod);
}

static void end_call(struct job_call *c, int status)
{
	struct file_job *job = c->job;

	c->answered = true;
	if (status && !job->status)
		job->status = status;
	if (!status && job->ops->answer)
		job->ops->answer(job, c->k, c->call.reply);
	if (--job->left == 0)
		job->ops->done(job);
}

/* The iod does not serve the copyset, or has not got the row yet. */
static void repeat_call(struct job_call *c)
{
	uint32_t version = c->call.copyset.version;
	int rc = find_iod(c);

	if (rc)
		end_call(c, rc);
	else if (c->call.copyset.version == version)
		iod_call_later(&c->call);
	else
		iod_call_start(c->iod, &c->call);
}

static void on_answer(struct iod_call *call)
{
	struct job_call *c = container_of(call, struct job_call, call);

	if (call->status == -WIRE_ECOPYSET)
		repeat_call(c);
	else
		end_call(c, call->status);
}

/* No request should wait for an iod of another file system. */
static void on_refused(struct iod_call *call)
{
	struct file_job *job = container_of(call, struct job_call, call)->job;
	struct request *req;

	job->owner = NULL;
	while ((req = park_take(&job->park)))
		answer_error(req, -ENXIO);
	if (job->ops->abandon)
		job->ops->abandon(job);
}

static void send_call(struct job_call *c)
{
	struct file_job *job = c->job;
	struct wire_out out;

	wire_begin(&out, c->msg, sizeof(c->msg));
	job->ops->build(job, c->k, &out);
	c->call.msg = c->msg;
	c->call.msg_len = (size_t)wire_end(&out, job->ops->op, 0, 0);
	c->call.done = on_answer;
	c->call.deadline = job->deadline;
	c->call.refused = on_refused;
	iod_call_start(c->iod, &c->call);
}

static int find_iods(struct file_job *job)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < job->dist.pcount; k++) {
		struct job_call *c = &job->call[k];

		c->job = job;
		c->k = k;
		rc = find_iod(c);
	}
	return rc;
}

int job_start(struct file_job *job)
{
	int rc;

	job->call = calloc(job->dist.pcount, sizeof(job->call[0]));
	if (!job->call)
		return -ENOMEM;
	rc = find_iods(job);
	if (rc) {
		free(job->call);
		job->call = NULL;
		return rc;
	}
	job->left = job->dist.pcount;
	for (uint32_t k = 0; k < job->dist.pcount; k++)
		send_call(&job->call[k]);
	return 0;
}

static bool is_outdated(const struct job_call *c, const struct copyset *now)
{
	return !c->answered && c->call.copyset.id == now->id &&
	       c->call.copyset.version != now->version;
}

/* If the store fails, the calls stay as they are: the manager ends. */
void jobs_send_to_primary(struct mgr *mgr, const struct copyset *now)
{
	struct file_job *job, *next;

	HASH_ITER(hh, mgr->jobs->table, job, next) {
		for (uint32_t k = 0; job->call && k < job->dist.pcount; k++) {
			struct job_call *c = &job->call[k];

			if (!is_outdated(c, now) || find_iod(c))
				continue;
			iod_call_cancel(&c->call);
			iod_call_start(c->iod, &c->call);
		}
	}
}

/* Writes the names of the iods that have not answered to buf. */
static void list_unanswered(const struct file_job *job, char *buf, size_t len)
{
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t k = 0; job->call && k < job->dist.pcount && at < len; k++)
		if (!job->call[k].answered)
			at += (size_t)snprintf(buf + at, len - at, "%s%s",
					       at ? ", " : "",
					       iod_name(job->call[k].call.iod));
}

/* ---- requests that wait ---- */

static void on_late(struct park *park, struct request *req)
{
	struct file_job *job = container_of(park, struct file_job, park);
	char iods[400], what[600];

	list_unanswered(job, iods, sizeof(iods));
	snprintf(what, sizeof(what), "the %s of file %llu; no answer from %s",
		 job->ops->name, job_handle_external(job),
		 iods[0] ? iods : "the disk of the mgr");
	if (job->owner == req)
		job->owner = NULL;
	answer_late(req, what);
	if (park_empty(park) && job->ops->abandon)
		job->ops->abandon(job);
}

struct file_job *job_new(struct mgr *mgr, uint64_t handle,
			 const struct dist *dist, const struct job_ops *ops)
{
	struct file_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->handle = handle;
	job->mgr = mgr;
	job->ops = ops;
	job->dist = *dist;
	park_init(&job->park, RPC_NETWORK, on_late);
	HASH_ADD(hh, mgr->jobs->table, handle, sizeof(job->handle), job);
	if (!job->hh.tbl) {
		free(job);
		return NULL;
	}
	mgr->jobs->calls += dist->pcount;
	return job;
}

void job_wait(struct file_job *job, struct request *req)
{
	park_wait(&job->park, req);
}

void job_free(struct file_job *job)
{
	for (uint32_t k = 0; job->call && k < job->dist.pcount; k++)
		iod_call_cancel(&job->call[k].call);
	free(job->call);
	rpc_timer_clear(job->mgr->ctx, &job->again);
	job->mgr->jobs->calls -= job->dist.pcount;
	HASH_DEL(job->mgr->jobs->table, job);
	free(job);
}

void job_finish(struct file_job *job)
{
	struct request *req;

	while ((req = park_take(&job->park)))
		request_requeue(req);
	job_free(job);
}

/*
 * ---- the limit of calls: questions and truncations beyond it wait for their turn, in order ----
 */

static bool is_below_limit(const struct mgr *mgr, uint32_t n)
{
	const struct mgr_jobs *jobs = mgr->jobs;

	return !jobs->calls || jobs->calls + n <= mgr->conf.iod_calls;
}

static bool is_below_limit_for_all(const struct mgr *mgr)
{
	return is_below_limit(mgr, mgr->conf.niods);
}

bool call_limit_permits(const struct request *req, uint32_t n)
{
	const struct mgr *mgr = req->mgr;

	return (req->admitted && is_below_limit(mgr, n)) ||
	       call_limit_is_free(mgr, n);
}

bool call_limit_is_free(const struct mgr *mgr, uint32_t n)
{
	return park_empty(&mgr->jobs->limit) && is_below_limit(mgr, n);
}

void call_limit_wait(struct request *req)
{
	req->admitted = true; /* for when it runs again */
	park_wait(&req->mgr->jobs->limit, req);
}

static void on_limit_late(struct park *park, struct request *req)
{
	answer_late(req, "its turn among other truncations and questions for "
			 "sizes; see which iods do not answer, or raise "
			 "iod_calls");
}

void call_limit_open(struct mgr *mgr)
{
	park_init(&mgr->jobs->limit, RPC_QUEUE, on_limit_late);
}

bool call_limit_run(struct mgr *mgr)
{
	return park_run(mgr, &mgr->jobs->limit, is_below_limit_for_all);
}
