/* SPDX-License-Identifier: BSD-2-Clause */
/* getsize.c - asks the iods for the size of a file. */
#include <errno.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"

#define LOOK_MS 5000

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
	if (size > job->now.size)
		job->now.size = size;
	if ((int64_t)le64toh(o.mtime) > job->now.mtime)
		job->now.mtime = (int64_t)le64toh(o.mtime);
	if (__builtin_add_overflow(job->now.blocks, le64toh(o.blocks),
				   &job->now.blocks))
		job->now.blocks = UINT64_MAX;
}

static int keep(struct job *job)
{
	struct mgr *mgr = job->mgr;
	struct ns_op op = mgr_own_op(mgr);
	int rc;

	rc = ns_begin(&mgr->ns);
	if (rc)
		return rc;
	rc = ns_asked(&op, job->handle, job->gen, &job->now);
	if (rc) {
		ns_abort(&mgr->ns);
		return rc;
	}
	/* if this is lost, the size is asked again */
	return mgr_commit(mgr, NULL);
}

static void done(struct fan *fan)
{
	struct job *job = job_of_fan(fan);
	struct request *req;
	int rc = fan->status;

	if (rc && !(job->look && rc == -ETIMEDOUT))
		log_error(job->mgr->log,
			  "size of file %llu: an iod answered: %s",
			  job_shown(job), strerror(-rc));
	if (!rc)
		rc = keep(job);
	TAILQ_FOREACH(req, &job->park.waiting, wait) {
		req->asked = true;
		/* the file was removed: running the request again reports that */
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

static int start(struct mgr *mgr, const struct inode *ino, bool look,
		 struct job **out)
{
	struct job *job = job_new(mgr, ino->handle, ino->pcount,
				  "question for the size");
	int rc;

	if (!job)
		return -ENOMEM;
	job->gen = ino->gen;
	job->dist = (struct dist){ ino->base, ino->pcount, ino->ssize };
	job->abandon = job_free;
	job->look = look;
	job->fan.deadline = look ? clock_after_ms(LOOK_MS) : 0;
	rc = fan_start(mgr, &job->fan, &getsize_ops, ino->base, ino->pcount);
	if (rc) {
		job_free(job);
		return rc;
	}
	*out = job;
	return 0;
}

int getsize_start(struct request *asker, uint64_t handle, struct job **job)
{
	struct mgr *mgr = asker->mgr;
	struct inode ino;
	int rc;

	rc = inode_get(mgr->st, handle, &ino);
	if (rc)
		return rc;
	if (!jobs_room(asker, ino.pcount))
		return -EAGAIN;
	return start(mgr, &ino, false, job);
}

static bool are_up(struct mgr *mgr, const struct inode *ino)
{
	for (uint32_t k = 0; k < ino->pcount; k++) {
		uint64_t at = (uint64_t)ino->base + k;
		const struct iod *iod =
			iod_of(mgr, (uint32_t)(at % mgr->conf.niods));

		if (!iod->open || iod->down)
			return false;
	}
	return true;
}

/* Until the answer is stored, clients that need it ask the iods themselves. */
void getsize_look(struct mgr *mgr, uint64_t handle)
{
	struct inode ino;
	struct job *job;

	if (job_there(mgr, handle) || inode_get(mgr->st, handle, &ino) ||
	    !jobs_idle(mgr, ino.pcount) || !are_up(mgr, &ino))
		return;
	start(mgr, &ino, true, &job);
}
