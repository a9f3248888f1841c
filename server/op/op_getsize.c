/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_getsize.c - GETSIZE: local sizes of up to WIRE_HANDLE_MAX objects; of one, where
 * the client finds it from now on without asking.
 */
#include "op.h"
#include "shows.h"

static int look(struct store *store, le64 handle, struct wire_objsize *size)
{
	struct store_stat st;
	int rc = store_stat(store, le64toh(handle), &st);

	if (rc)
		return rc;
	size->size = htole64(st.size);
	size->blocks = htole64(st.blocks);
	size->mtime = htole64(st.mtime);
	return 0;
}

static void answer(struct rpc_req *req, const struct wire_getsize_rep *rep,
		   const void *tail, size_t len)
{
	op_reply(req, rep, sizeof(*rep), tail, len, RPC_REEXECUTE);
}

static void answer_one(struct worker *w, struct rpc_req *req, le64 handle,
		       const struct wire_objsize *size)
{
	struct {
		struct wire_objsize size;
		struct wire_end_place place;
	} one = { .size = *size };
	bool shown = shows_place(w->iod, req, le64toh(handle), &one.place);
	const struct wire_getsize_rep rep = { htole32(1), htole32(shown) };

	answer(req, &rep, &one, shown ? sizeof(one) : sizeof(one.size));
}

void op_getsize(struct worker *w, struct rpc_req *req)
{
	const struct wire_objects *body = req->msg.body;
	const le64 *handle = req->msg.tail[0].ptr;
	struct wire_objsize size[WIRE_HANDLE_MAX];
	uint32_t i, n = le32toh(body->n);
	const struct wire_getsize_rep rep = { .n = htole32(n) };
	int rc;

	for (i = 0; i < n; i++) {
		rc = look(w->iod->store, handle[i], &size[i]);
		if (rc) {
			rpc_reply_status(req, rc);
			return;
		}
	}
	if (n == 1)
		answer_one(w, req, handle[0], size);
	else
		answer(req, &rep, size, n * sizeof(size[0]));
}
