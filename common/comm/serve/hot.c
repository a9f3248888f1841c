/* SPDX-License-Identifier: BSD-2-Clause */
/* hot.c - see hot_int.h. */
#include <errno.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/comm/serve/server_int.h"

/* Requests of servers are for what others have asked them for; those below MOUNT are about
 * no file. */
void hot_add(struct rx *rx, uint64_t now)
{
	const struct rpc_server_attr *attr = &rx->conn->lane->server->attr;
	struct hot *hot = &rx->conn->lane->hot;
	const struct rpc_session *s = rx->conn->session;
	uint64_t handle;

	if (!attr->service->object || s->info.role != WIRE_ROLE_CLIENT ||
	    rx->req.op < WIRE_MOUNT)
		return;
	handle = attr->service->object(&rx->req);
	if (!handle)
		return;
	pthread_mutex_lock(&hot->lock);
	sketch_add(&hot->sketch, handle, rx->bytes_in + rx->data_len,
		   rx->bytes_out, now);
	pthread_mutex_unlock(&hot->lock);
}

/* ---- HOT ---- */

static unsigned int collect(struct rpc_server *server, struct sketch_row *rows)
{
	uint64_t now = clock_boot();
	unsigned int n = 0;

	for (unsigned int i = 0; i < server->nlanes; i++) {
		struct hot *hot = &server->lanes[i].hot;

		pthread_mutex_lock(&hot->lock);
		n = sketch_join(&hot->sketch, now, rows, n);
		pthread_mutex_unlock(&hot->lock);
	}
	return n;
}

/* What was asked about, as rows that nothing is known of. */
static unsigned int take_handles(const struct rpc_req *req,
				 struct sketch_row *rows)
{
	const le64 *handle = req->msg.tail[0].ptr;
	unsigned int n = (unsigned int)(req->msg.tail[0].len / sizeof(*handle));

	for (unsigned int i = 0; i < n; i++)
		rows[i] = (struct sketch_row){ .key = le64toh(handle[i]) };
	return n;
}

static void fill(const struct rpc_server_attr *attr,
		 const struct sketch_row *row, struct wire_hot_file *file)
{
	*file = (struct wire_hot_file){
		.handle = htole64(row->key),
		.requests = htole64(row->requests),
		.bytes_in = htole64(row->in),
		.bytes_out = htole64(row->out),
	};
	if (attr->service->name)
		attr->service->name(attr->arg, row->key, file->name);
}

static unsigned int room(const struct wire_out *out)
{
	return wire_room(out, sizeof(struct wire_hot_rep),
			 sizeof(struct wire_hot_file), WIRE_HOT_MAX);
}

static void answer(struct rpc_req *req)
{
	struct rpc_server *server = req->session->lane->server;
	struct sketch_row rows[2 * SKETCH_MAX];
	struct wire_out *out = rpc_reply_begin(req);
	struct wire_hot_file file;
	struct wire_hot_rep rep = { 0 };
	unsigned int n = take_handles(req, rows);

	n = n ? n : collect(server, rows);
	if (n > room(out))
		n = room(out);
	rep.n = htole32(n);
	wire_put(out, &rep, sizeof(rep));
	for (unsigned int i = 0; i < n; i++) {
		fill(&server->attr, &rows[i], &file);
		wire_put(out, &file, sizeof(file));
	}
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}

void hot_req_run(struct rpc_req *req)
{
	if (labels_sees_all(req->session))
		answer(req);
	else
		rpc_reply_status(req, -EPERM);
}
