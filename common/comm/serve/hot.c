/* SPDX-License-Identifier: BSD-2-Clause */
/* hot.c - see hot_int.h. */
#include "common/util/clock.h"
#include "common/comm/serve/server_int.h"

/*
 * Requests of servers serve requests of clients and are not counted.  Operations below MOUNT
 * concern no file.
 */
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

unsigned int hot_collect(struct rpc_server *server,
			 struct sketch_row rows[2 * SKETCH_MAX])
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
