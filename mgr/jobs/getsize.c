/* SPDX-License-Identifier: BSD-2-Clause */
/* getsize.c - asks the iods for the size of a file. */
#include <errno.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"

#define BACKGROUND_MS 5000

static void build_getsize(struct file_job *job, uint32_t k,
			  struct wire_out *out)
{
	struct wire_objects body = { .n = htole32(1) };
	uint64_t handle = handle_to_wire(job->mgr->st, job->handle);

	wire_put(out, &body, sizeof(body));
	wire_put(out, &handle, sizeof(handle));
}

static void add_answer(struct file_job *job, uint32_t k,
		       const struct wire_msg *msg)
{
	struct wire_objsize o;
	uint64_t size;

	if (msg->tail[0].len < sizeof(o)) {
		job->status = -EPROTO;
		return;
	}
	memcpy(&o, msg->tail[0].ptr, sizeof(o));
	size = dist_file_size(&job->dist, k, le64toh(o.size));
	if (size > job->now.size)
		job->now.size = size;
	if ((int64_t)le64toh(o.mtime) > job->now.mtime)
		job->now.mtime = (int64_t)le64toh(o.mtime);
	if (__builtin_add_overflow(job->now.blocks, le64toh(o.blocks),
				   &job->now.blocks))
		job->now.blocks = UINT64_MAX;
}

static int store_size(struct file_job *job)
{
	struct mgr *mgr = job->mgr;
	struct ns_op op = mgr_own_op(mgr);
	int rc;

	rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	rc = ns_store_size(&op, job->handle, job->gen, &job->now);
	/* if this is lost, the size is asked again */
	return mgr_end_transaction(mgr, rc, NULL);
}

static void on_all_answered(struct file_job *job)
{
	struct request *req;
	int rc = job->status;

	if (rc && !(job->in_background && rc == -ETIMEDOUT))
		log_error(job->mgr->log,
			  "size of file %llu: an iod answered: %s",
			  job_handle_external(job), strerror(-rc));
	if (!rc)
		rc = store_size(job);
	TAILQ_FOREACH(req, &job->park.waiting, wait) {
		req->asked = true;
		/* the file was removed: running the request again reports that */
		if (rc != -ENOENT)
			req->result = rc;
	}
	job_finish(job);
}

static const struct job_ops getsize_ops = {
	.name = "question for the size",
	.op = WIRE_GETSIZE,
	.build = build_getsize,
	.answer = add_answer,
	.done = on_all_answered,
	.abandon = job_free,
};

static int start_question(struct mgr *mgr, const struct inode *ino,
			  bool background, struct file_job **out)
{
	struct file_job *job = job_new(mgr, ino->handle, &ino->dist,
				       &getsize_ops);
	int rc;

	if (!job)
		return -ENOMEM;
	job->gen = ino->gen;
	job->in_background = background;
	job->deadline = background ? clock_after_ms(BACKGROUND_MS) : 0;
	rc = job_start(job);
	if (rc) {
		job_free(job);
		return rc;
	}
	*out = job;
	return 0;
}

int getsize_start(struct request *asker, uint64_t handle, struct file_job **job)
{
	struct mgr *mgr = asker->mgr;
	struct inode ino;
	int rc;

	rc = inode_get(mgr->st, handle, &ino);
	if (rc)
		return rc;
	if (!call_limit_permits(asker, ino.dist.pcount))
		return -EAGAIN;
	return start_question(mgr, &ino, false, job);
}

static bool are_up(struct mgr *mgr, const struct inode *ino)
{
	for (uint32_t k = 0; k < ino->dist.pcount; k++) {
		struct copyset_ref ref;
		struct mgr_iod *iod;

		if (mgr_copyset_iod(mgr, &ino->dist, k, &ref, &iod) ||
		    !iod->open || iod->down)
			return false;
	}
	return true;
}

/* Until the answer is stored, clients that need it ask the iods themselves. */
void getsize_start_in_background(struct mgr *mgr, uint64_t handle)
{
	struct inode ino;
	struct file_job *job;

	if (job_lookup(mgr, handle) || inode_get(mgr->st, handle, &ino) ||
	    !call_limit_is_free(mgr, ino.dist.pcount) || !are_up(mgr, &ino))
		return;
	start_question(mgr, &ino, true, &job);
}
