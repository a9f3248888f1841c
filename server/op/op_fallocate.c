/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_fallocate.c - FALLOCATE: allocates, zeroes or frees the space of a range.  A long range is
 * done in steps.  Each step is in time or is not done.
 */
#include <errno.h>
#include <string.h>

#include "common/util/disk_space.h"
#include "server/op/op.h"

#define STEP (256ull << 20)
#define STEPS 4096u /* at most, when space is freed */

static enum store_space how_of(uint32_t flags)
{
	if (flags & WIRE_FA_PUNCH)
		return STORE_PUNCH;
	return flags & WIRE_FA_ZERO ? STORE_ZERO : STORE_ALLOCATE;
}

static int step(struct op_job *job, struct store_obj *obj,
		const struct store_seg *seg)
{
	const struct wire_fallocate *body = job->req->msg.body;
	uint32_t flags = le32toh(body->flags);
	struct gate_entry entry;
	int rc;

	if (store_fence_has(job->worker->iod->store, job->ses->id))
		return -ESTALE;
	rc = store_obj_enter(obj, job->req->expiry, &entry);
	if (rc)
		return rc;
	rc = store_obj_space(obj, how_of(flags), flags & WIRE_FA_KEEP, seg->off,
			     seg->len);
	store_obj_leave(obj, &entry);
	return rc;
}

/* A range to be freed may be as long as offsets go, and freeing holes takes no time. */
static uint64_t step_of(enum store_space how, uint64_t len)
{
	return how == STORE_PUNCH ? (len / (STEPS * STEP) + 1) * STEP : STEP;
}

/* Checks the free space first, so that a range that cannot fit does not fill the disk.  Space
 * that the object already has may lie in the range. */
static int has_room(const struct op_job *job, struct store_obj *obj,
		    uint64_t len)
{
	struct statvfs fs;
	struct store_stat st;
	uint64_t left;
	int rc = store_statfs(job->worker->iod->store, &fs);

	if (!rc)
		rc = store_obj_stat(obj, &st);
	if (rc)
		return rc;
	left = disk_space_left(&fs);
	return len > left && len - left > st.blocks * 512 ? -ENOSPC : 0;
}

static int all_steps(struct op_job *job, struct store_obj *obj,
		     struct store_seg all)
{
	const struct wire_fallocate *body = job->req->msg.body;
	enum store_space how = how_of(le32toh(body->flags));
	uint64_t most = step_of(how, all.len);
	struct store_seg part = { all.off, 0 };
	int rc = 0;

	if (how != STORE_PUNCH)
		rc = has_room(job, obj, all.len);
	for (; !rc && all.len; all.len -= part.len) {
		part.off += part.len;
		part.len = all.len < most ? all.len : most;
		rc = step(job, obj, &part);
	}
	if (!rc && job->worker->iod->conf.sync)
		rc = store_obj_sync(obj);
	return rc;
}

/* A missing object has no space to free, so it is not made. */
static int find(struct op_job *job, struct store_obj **obj)
{
	const struct wire_fallocate *body = job->req->msg.body;
	uint64_t handle = le64toh(body->handle);
	struct iod *iod = job->worker->iod;

	if (le32toh(body->flags) & WIRE_FA_PUNCH)
		return store_obj_get(iod->store, handle, false, obj);
	return change_make(iod, handle, obj);
}

static int run(struct op_job *job)
{
	const struct wire_fallocate *body = job->req->msg.body;
	const struct store_seg all = { le64toh(body->off), le64toh(body->len) };
	struct store_obj *obj;
	int rc;

	rc = change_may(job->worker->iod, job->req, le64toh(body->handle), &all,
			1);
	if (rc)
		return rc;
	rc = find(job, &obj);
	if (rc)
		return rc == -ENOENT && le32toh(body->flags) & WIRE_FA_PUNCH
			       ? 0
			       : rc;
	rc = all_steps(job, obj, all);
	store_obj_put(obj);
	return rc;
}

/* The session counts as having written from now on.  Errors that a flush met earlier do not
 * concern this change. */
static void answer(struct op_job *job, int status)
{
	const struct wire_fallocate *body = job->req->msg.body;

	mark_written(marks_write(&job->ses->marks, job->worker->iod->store,
				 le64toh(body->handle)));
	op_job_reply(job, status);
}

void op_fallocate(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, run, answer);
}
