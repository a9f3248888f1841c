/* SPDX-License-Identifier: BSD-2-Clause */
/* getsize.c - asks the iods for the size of a file. */
#include <errno.h>
#include <string.h>

#include "jobs_int.h"

static void build(struct fan *fan, uint32_t k, struct wire_out *out)
{
	struct wire_objects body = { .n = htole32(1) };
	const struct job *job = job_of_fan(fan);
	uint64_t handle = handle_to_wire(job->mgr->st, job->handle);

	wire_put(out, &body, sizeof(body));
	wire_put(out, &handle, sizeof(handle));
}

static void answer(struct fan *fan, uint32_t k, const struct wire_msg *msg)
{
	struct job *job = job_of_fan(fan);
	struct wire_objsize o;
	uint64_t size;

	if (msg->tail[0].len < sizeof(o)) {
		fan->status = -EPROTO;
		return;
	}
	memcpy(&o, msg->tail[0].ptr, sizeof(o));
	size = dist_file_size(&job->dist, k, le64toh(o.size));
	if (size > job->size)
		job->size = size;
	if ((int64_t)le64toh(o.mtime) > job->mtime)
		job->mtime = (int64_t)le64toh(o.mtime);
}

static int keep(struct job *job)
{
	struct mgr *mgr = job->mgr;
	struct ns_op op = mgr_own_op(mgr);
	int rc;

	rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	rc = ns_asked(&op, job->handle, job->gen, job->size, job->mtime);
	if (rc) {
		ns_abort(&mgr->ns);
		return rc;
	}
	/* if this is lost, it is asked again */
	return mgr_commit(mgr, NULL);
}

static void done(struct fan *fan)
{
	struct job *job = job_of_fan(fan);
	struct request *req;
	int rc = fan->status;

	if (rc)
		log_error(job->mgr->log,
			  "size of file %llu: an iod answered: %s",
			  job_shown(job), strerror(-rc));
	else
		rc = keep(job);
	TAILQ_FOREACH(req, &job->park.waiting, wait) {
		req->asked = true;
		/* gone meanwhile: running again says so */
		if (rc != -ENOENT)
			req->result = rc;
	}
	job_over(job);
}

static const struct fan_ops getsize_ops = {
	.op = WIRE_GETSIZE,
	.build = build,
	.answer = answer,
	.done = done,
	.refused = job_refused,
};

int getsize_start(struct request *asker, uint64_t handle, struct job **out)
{
	struct mgr *mgr = asker->mgr;
	struct inode ino;
	struct job *job;
	int rc;

	rc = inode_get(mgr->st, handle, &ino);
	if (rc)
		return rc;
	if (!jobs_room(asker, ino.pcount))
		return -EAGAIN;
	job = job_new(mgr, handle, ino.pcount, "question for the size");
	if (!job)
		return -ENOMEM;
	job->gen = ino.gen;
	job->dist = (struct dist){ ino.base, ino.pcount, ino.ssize };
	job->abandon = job_free;
	rc = fan_start(mgr, &job->fan, &getsize_ops, ino.base, ino.pcount);
	if (rc) {
		job_free(job);
		return rc;
	}
	*out = job;
	return 0;
}
