/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_space.c - FALLOCATE and SEEK: the space of an object, its data and holes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/disk_space.h"
#include "server/op/op_int.h"

/* ---- FALLOCATE: a long range is done in steps; each is in time or is not done ---- */

#define STEP (256ull << 20)
#define STEPS 4096u /* at most, when space is freed */

static enum store_space space_change_of(uint32_t flags)
{
	if (flags & WIRE_FA_PUNCH)
		return STORE_PUNCH;
	return flags & WIRE_FA_ZERO ? STORE_ZERO : STORE_ALLOCATE;
}

/* Changes the space of a part in time, or not at all. */
static int change_part(struct iod *iod, const struct rpc_req *req,
		       struct store_obj *obj, const struct store_seg *seg,
		       uint32_t flags)
{
	const struct ordered_change what = { .kind = WIRE_ORDER_SPACE,
					     .arg = { seg->off, seg->len },
					     .flags = flags };
	struct change_entry entry;
	int rc = change_enter(iod, req, obj, &what, &entry);

	if (rc)
		return rc;
	rc = store_obj_space(obj, space_change_of(flags), flags & WIRE_FA_KEEP,
			     seg->off, seg->len);
	change_leave(iod, obj, &entry, rc);
	return rc;
}

static int fallocate_part(struct op_job *job, struct store_obj *obj,
			  const struct store_seg *seg)
{
	const struct wire_fallocate *body = job->req->msg.body;
	struct iod *iod = job->worker->iod;

	if (store_fence_has(iod->store, job->ses->id))
		return -ESTALE;
	return change_part(iod, job->req, obj, seg, le32toh(body->flags));
}

/* A range to be freed may be as long as offsets go, and freeing holes takes no time. */
static uint64_t part_length(enum store_space how, uint64_t len)
{
	return how == STORE_PUNCH ? (len / (STEPS * STEP) + 1) * STEP : STEP;
}

/* Checks the free space first, so that a range that cannot fit does not fill the disk.  Space
 * that the object already has may lie in the range. */
static int check_free_space(const struct op_job *job, struct store_obj *obj,
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

static int fallocate_all_parts(struct op_job *job, struct store_obj *obj,
			       struct store_seg all)
{
	const struct wire_fallocate *body = job->req->msg.body;
	enum store_space how = space_change_of(le32toh(body->flags));
	uint64_t most = part_length(how, all.len);
	struct store_seg part = { all.off, 0 };
	int rc = 0;

	if (how != STORE_PUNCH)
		rc = check_free_space(job, obj, all.len);
	for (; !rc && all.len; all.len -= part.len) {
		part.off += part.len;
		part.len = all.len < most ? all.len : most;
		rc = fallocate_part(job, obj, &part);
	}
	if (!rc && job->worker->iod->conf.sync)
		rc = store_obj_sync(obj);
	return rc;
}

/* A missing object has no space to free, so it is not made. */
static int open_object_to_allocate(struct iod *iod, struct object_key key,
				   uint32_t flags, struct store_obj **obj)
{
	if (flags & WIRE_FA_PUNCH)
		return store_obj_get(iod->store, key, false, obj);
	return change_open_object(iod, key, obj);
}

int change_space(struct iod *iod, const struct rpc_req *req,
		 struct object_key key, const struct store_seg *seg,
		 uint32_t flags)
{
	struct store_obj *obj;
	int rc = open_object_to_allocate(iod, key, flags, &obj);

	if (rc)
		return rc == -ENOENT && flags & WIRE_FA_PUNCH ? 0 : rc;
	rc = change_part(iod, req, obj, seg, flags);
	store_obj_put(obj);
	return rc;
}

static int fallocate_object(struct op_job *job)
{
	const struct wire_fallocate *body = job->req->msg.body;
	const struct store_seg all = { le64toh(body->off), le64toh(body->len) };
	struct object_key key = request_key(job->req, body->handle);
	struct iod *iod = job->worker->iod;
	struct store_obj *obj;
	int rc;

	rc = change_check(iod, job->req, key, &all, 1);
	if (rc)
		return rc;
	rc = open_object_to_allocate(iod, key, le32toh(body->flags), &obj);
	if (rc)
		return rc == -ENOENT && le32toh(body->flags) & WIRE_FA_PUNCH
			       ? 0
			       : rc;
	rc = fallocate_all_parts(job, obj, all);
	store_obj_put(obj);
	return rc;
}

/* The session counts as having written from now on.  Errors that a flush met earlier do not
 * concern this change. */
static void finish_fallocate(struct op_job *job, int status)
{
	const struct wire_fallocate *body = job->req->msg.body;

	dirty_object_write_end(dirty_objects_write_begin(
		&job->ses->dirty, job->worker->iod->store,
		request_key(job->req, body->handle)));
	op_job_reply(job, status);
}

void op_fallocate(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, DISK_CHANGE, fallocate_object, finish_fallocate);
}

/* ---- SEEK ---- */

/* A missing object is one hole. */
static int seek_object(struct op_job *job)
{
	const struct wire_seek *body = job->req->msg.body;
	bool hole = le32toh(body->flags) & WIRE_SK_HOLE;
	uint64_t off = le64toh(body->off), *at = malloc(sizeof(*at));
	struct store_obj *obj;
	int rc;

	job->req->priv = at;
	if (!at)
		return -ENOMEM;
	*at = off;
	rc = store_obj_get(job->worker->iod->store,
			   request_key(job->req, body->handle), false, &obj);
	if (rc)
		return rc != -ENOENT ? rc : hole ? 0 : -ENXIO;
	rc = store_obj_seek(obj, hole, off, at);
	store_obj_put(obj);
	return rc;
}

static void send_position(struct op_job *job, int status)
{
	uint64_t *at = job->req->priv;
	struct wire_seek_rep rep;

	if (!status || status == -ENXIO) {
		rep.off = htole64(status ? INT64_MAX : *at);
		op_reply(job->req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
		free(job);
	} else {
		op_job_reply(job, status);
	}
	free(at);
}

void op_seek(struct worker *w, struct rpc_req *req)
{
	op_job_start(w, req, DISK_READ, seek_object, send_position);
}
