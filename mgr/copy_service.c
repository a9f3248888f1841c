/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_service.c - see copy_service.h.
 *
 * 	thread of backup_server: store_copy() --> socket --> this file --> memory of the other manager
 *
 * The other manager requests one part after the other.  Each request returns what the socket
 * contains. If requests stop, the socket fills up, and the copy ends after the timeout of
 * backup_server.
 */
#include "mgr/copy_service.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mgr/backup/backup.h"
#include "mgr/group/group.h"

#define RETRY_MS 2 /* until the socket has more */
#define ANSWER_MS 500 /* an answer without data */

struct copy_service {
	struct mgr *mgr;
	int fd; /* of the copy; -1: none */
	uint64_t member; /* that gets it */
	uint64_t offset; /* bytes that were sent */
	struct rpc_timer retry;
	uint64_t answer_by; /* clock_now() */
	/* the request that waits for data, or whose data is being written */
	struct rpc_req *rpc;
	bool writes;
	bool closing;
	struct rpc_bulk bulk;
	struct rail_mem mem;
	uint32_t len;
	uint8_t data[WIRE_FETCH_MAX];
};

static void end_copy(struct copy_service *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static void answer_part(struct copy_service *c, uint32_t len, bool end)
{
	const struct wire_fetch_rep rep = { htole32(len), htole32(end) };
	struct rpc_req *rpc = c->rpc;

	c->rpc = NULL;
	wire_put(rpc_reply_begin(rpc), &rep, sizeof(rep));
	rpc_reply_end(rpc, 0, 0);
	rpc_reply_send(rpc);
}

static void on_written(struct rpc_bulk *bulk, int status)
{
	struct copy_service *c = bulk->arg;
	struct rpc_req *rpc = c->rpc;

	c->writes = false;
	if (!status) {
		c->offset += c->len;
		answer_part(c, c->len, false);
		return;
	}
	end_copy(c);
	c->rpc = NULL;
	rpc_req_abort(rpc);
}

static int write_part(struct copy_service *c, uint32_t len)
{
	const struct wire_fetch *body = c->rpc->msg.body;
	const struct rail_sge local = { c->data, len, &c->mem };

	c->len = len;
	c->bulk = (struct rpc_bulk){ .dir = RPC_PUT,
				     .mem = c->rpc->msg.tail[0].ptr,
				     .nmem = le32toh(body->nmem),
				     .local = &local,
				     .nlocal = 1,
				     .len = len,
				     .done = on_written,
				     .arg = c };
	c->writes = true;
	return rpc_bulk_start(c->rpc, &c->bulk);
}

static void fail_part(struct copy_service *c, int rc)
{
	struct rpc_req *rpc = c->rpc;

	c->writes = false;
	c->rpc = NULL;
	end_copy(c);
	if (rc == -ENOTCONN)
		rpc_req_abort(rpc);
	else
		rpc_reply_status(rpc, rc);
}

static void continue_part(struct copy_service *c)
{
	const struct wire_fetch *body = c->rpc->msg.body;
	ssize_t n = recv(c->fd, c->data, le32toh(body->len), 0);
	int rc;

	if (n > 0) {
		rc = write_part(c, (uint32_t)n);
		if (rc)
			fail_part(c, rc);
	} else if (!n) {
		end_copy(c);
		answer_part(c, 0, true);
	} else if (errno != EAGAIN && errno != EINTR) {
		fail_part(c, -EIO);
	} else if (clock_now() >= c->answer_by) {
		answer_part(c, 0, false);
	} else {
		rpc_timer_set(c->mgr->ctx, &c->retry, clock_after_ms(RETRY_MS));
	}
}

static void on_retry(struct rpc_timer *timer)
{
	struct copy_service *c = container_of(timer, struct copy_service,
					      retry);

	if (c->rpc && !c->writes)
		continue_part(c);
}

static int begin_copy(struct copy_service *c, uint64_t member)
{
	if (c->fd >= 0 && c->member != member)
		return -EBUSY;
	end_copy(c);
	c->fd = backup_connect(c->mgr->dirfd);
	if (c->fd < 0)
		return -EAGAIN;
	c->member = member;
	c->offset = 0;
	log_info(c->mgr->log, "sends a copy of the database to member %016llx",
		 (unsigned long long)member);
	return 0;
}

static bool is_member(struct mgr *mgr, uint64_t id)
{
	struct member_status status;

	mgr_group_get_status(mgr->group, &status);
	return member_status_find(&status, id);
}

static int take_request(struct copy_service *c, struct rpc_req *rpc)
{
	const struct wire_fetch *body = rpc->msg.body;
	uint64_t member = le64toh(body->member), offset = le64toh(body->offset);
	int rc = 0;

	if (le64toh(body->group) != mgr_group_number(c->mgr->group))
		return -ESTALE;
	if (!is_member(c->mgr, member))
		return -ENOENT;
	if (c->rpc || c->closing)
		return -EBUSY;
	if (!offset)
		rc = begin_copy(c, member);
	else if (c->fd < 0 || c->member != member || c->offset != offset)
		rc = -ENXIO;
	if (rc)
		return rc;
	c->rpc = rpc;
	c->answer_by = clock_after_ms(ANSWER_MS);
	continue_part(c);
	return 0;
}

static int open_service(struct mgr *mgr)
{
	struct copy_service *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->mgr = mgr;
	c->fd = -1;
	c->retry.fire = on_retry;
	rail_mem_init(&c->mem, c->data, sizeof(c->data), TP_LOCAL_WRITE);
	mgr->copies = c;
	return 0;
}

bool copy_service_handle_request(struct mgr *mgr, struct rpc_req *rpc)
{
	int rc;

	if (rpc->op != WIRE_FETCH)
		return false;
	rc = mgr->copies ? 0 : open_service(mgr);
	if (!rc)
		rc = take_request(mgr->copies, rpc);
	if (rc)
		rpc_reply_status(rpc, rc);
	return true;
}

uint64_t copy_service_sent(const struct mgr *mgr, uint64_t member)
{
	const struct copy_service *c = mgr->copies;

	return c && c->fd >= 0 && c->member == member ? c->offset : 0;
}

void copy_service_stop(struct mgr *mgr)
{
	struct copy_service *c = mgr->copies;

	if (!c)
		return;
	c->closing = true;
	rpc_timer_clear(mgr->ctx, &c->retry);
	if (c->rpc && !c->writes)
		fail_part(c, -ENOTCONN);
	end_copy(c);
}

void copy_service_close(struct mgr *mgr)
{
	if (mgr->copies)
		rail_mem_fini(&mgr->copies->mem);
	free(mgr->copies);
	mgr->copies = NULL;
}
