/* SPDX-License-Identifier: BSD-2-Clause */
/* reply.c - exactly-once execution across restarts: the stored replies. */
#include <errno.h>
#include <string.h>

#include "mgr/request/caller.h"
#include "mgr/request/reply.h"

#define CAPABILITY (sizeof(struct wire_caps) + WIRE_CAP_LEN)

static int put_reply(struct mgr *mgr, struct rpc_session *session,
		     unsigned int slot, const struct reply_rec *rec)
{
	int rc = caller_record(mgr, session);

	return rc ? rc
		  : reply_put(mgr->st, rpc_session_info(session)->id, slot,
			      rec);
}

int reply_record(struct mgr *mgr, const struct rpc_req *rpc, uint32_t opened)
{
	struct reply_rec rec;
	const void *bytes = rpc_reply_bytes(rpc, &rec.len);

	if (opened)
		rec.len -= CAPABILITY;
	if (rec.len > sizeof(rec.bytes))
		return -EMSGSIZE;
	rec.seq = rpc->seq;
	rec.kind = opened ? REPLY_OPENED : REPLY_DONE;
	rec.opened = opened;
	memcpy(rec.bytes, bytes, rec.len);
	return put_reply(mgr, rpc->session, rpc->slot, &rec);
}

int reply_record_job(struct mgr *mgr, const struct rpc_req *rpc,
		     const struct intent *in)
{
	uint64_t handle = htole64(in->handle);
	struct reply_rec rec;

	rec.seq = rpc->seq;
	rec.kind = REPLY_JOB;
	rec.job = in->id;
	rec.len = sizeof(handle);
	memcpy(rec.bytes, &handle, sizeof(handle));
	return put_reply(mgr, rpc->session, rpc->slot, &rec);
}

/* A reply without a body, built as rpc_reply_end() does. */
static size_t build_empty(const struct intent *in, int status, uint8_t *buf)
{
	_Alignas(8) struct wire_hdr hdr;
	struct wire_out out;
	int len;

	wire_begin(&out, &hdr, sizeof(hdr));
	len = wire_end(&out, in->op, WIRE_F_REPLY, 0);
	hdr.slot = htole16((uint16_t)in->slot);
	hdr.session = htole64(in->session);
	hdr.seq = htole64(in->seq);
	/* any number: the next reply has the real one */
	hdr.credits = htole32(1);
	hdr.status = htole32((uint32_t)-status);
	memcpy(buf, &hdr, sizeof(hdr));
	return (size_t)len;
}

int reply_record_job_end(struct mgr *mgr, const struct intent *in, int status)
{
	struct reply_rec rec;
	int rc;

	rc = reply_get(mgr->st, in->session, in->slot, &rec);
	if (rc == -ENOENT)
		return 0;
	if (rc || rec.kind != REPLY_JOB || rec.job != in->id)
		return rc;
	/* an OPEN with O_TRUNC continues after its truncation, so it has no reply yet */
	if (!status && in->op != WIRE_TRUNCATE)
		return 0;
	rec.kind = REPLY_DONE;
	rec.len = build_empty(in, status, rec.bytes);
	return reply_put(mgr->st, in->session, in->slot, &rec);
}

uint64_t reply_job_handle(const struct reply_rec *rec)
{
	uint64_t handle = 0;

	if (rec->len == sizeof(handle))
		memcpy(&handle, rec->bytes, sizeof(handle));
	return le64toh(handle);
}

int reply_find(struct mgr *mgr, const struct rpc_req *rpc,
	       struct reply_rec *rec)
{
	uint64_t session = rpc_session_info(rpc->session)->id;
	int rc;

	rc = reply_get(mgr->st, session, rpc->slot, rec);
	return rc ? rc : rec->seq == rpc->seq ? 0 : -ENOENT;
}
