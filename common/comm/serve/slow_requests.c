/* SPDX-License-Identifier: BSD-2-Clause */
/* slow_requests.c - the parts of a request's time: see request_stats_int.h and rpc_serve.h. */
#include "common/comm/serve/conn_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t slow_ns(const struct rx *rx)
{
	return rx->conn->thread->server->attr.slow_ms * CLOCK_NS_PER_MS;
}

void request_time_begin(struct rx *rx)
{
	rx->time = (struct request_time){ .since = rx->arrived };
}

static enum rpc_part request_time_part(const struct request_time *p)
{
	unsigned int part = RPC_PARTS - 1;

	while (part && !p->in[part])
		part--;
	return part;
}

/* The clock of the context may lag a little.  Then nothing is added. */
static void request_time_add(struct request_time *p, enum rpc_part part,
			     uint64_t at)
{
	if (at <= p->since)
		return;
	p->ns[part] += at - p->since;
	p->since = at;
}

static uint64_t request_boot_time(const struct rx *rx, uint64_t at)
{
	return at + rx->conn->thread->server->skew;
}

static void request_time_update(struct rx *rx)
{
	request_time_add(&rx->time, request_time_part(&rx->time),
			 request_boot_time(rx, rx->conn->link.ctx->now));
}

void rpc_req_enter(struct rpc_req *req, enum rpc_part part)
{
	struct rx *rx = container_of(req, struct rx, req);

	if (!slow_ns(rx))
		return;
	request_time_update(rx);
	rx->time.in[part]++;
}

void rpc_req_leave(struct rpc_req *req, enum rpc_part part)
{
	struct rx *rx = container_of(req, struct rx, req);

	if (!slow_ns(rx) || !rx->time.in[part])
		return;
	request_time_update(rx);
	rx->time.in[part]--;
}

void rpc_req_leave_from(struct rpc_req *req, enum rpc_part part, uint64_t began)
{
	struct rx *rx = container_of(req, struct rx, req);

	if (began && slow_ns(rx) && request_time_part(&rx->time) == part)
		request_time_add(&rx->time, RPC_QUEUE,
				 request_boot_time(rx, began));
	rpc_req_leave(req, part);
}

void rpc_req_expect_wait(struct rpc_req *req)
{
	container_of(req, struct rx, req)->time.wait_expected = true;
}

/* ---- the log line ---- */

static bool slow_line_is_allowed(struct slow_pace *pace, uint64_t now)
{
	if (!pace->second || now - pace->second >= 1000 * CLOCK_NS_PER_MS) {
		pace->second = now;
		pace->lines = 0;
	}
	if (pace->lines == SLOW_LINES) {
		pace->more++;
		return false;
	}
	pace->lines++;
	return true;
}

static void slow_format_parts(const struct request_time *p, char *buf,
			      size_t len)
{
	static const char *const name[RPC_PARTS] = {
		[RPC_QUEUE] = "queue",	   [RPC_BUFFER] = "buffer",
		[RPC_NETWORK] = "network", [RPC_DISK] = "disk",
		[RPC_FLUSH] = "flush",	   [RPC_OTHER] = "other"
	};
	int n = 0;

	for (unsigned int i = 1; i <= RPC_PARTS; i++) {
		unsigned int part = i % RPC_PARTS; /* other comes last */

		n += snprintf(buf + n, len - (size_t)n, "%s%s %llu",
			      i > 1 ? ", " : "", name[part],
			      p->ns[part] / CLOCK_NS_PER_MS);
	}
}

static void slow_format_object(const struct rx *rx, char *buf, size_t len)
{
	const struct rpc_service *service =
		rx->conn->thread->server->attr.service;
	uint64_t object = service->object ? service->object(&rx->req) : 0;

	buf[0] = '\0';
	if (object)
		snprintf(buf, len, " of %016" PRIx64, object);
}

static void slow_format_more(struct slow_pace *pace, char *buf, size_t len)
{
	buf[0] = '\0';
	if (pace->more)
		snprintf(buf, len, "; %" PRIu64 " more without a line",
			 pace->more);
	pace->more = 0;
}

static void slow_log_request(const struct rx *rx, uint64_t took,
			     uint32_t status)
{
	const struct rpc_session *s = rx->conn->session;
	const struct wire_as *as = rx->req.msg.as;
	struct server_thread *thread = rx->conn->thread;
	char parts[224], object[24], more[48];

	slow_format_parts(&rx->time, parts, sizeof(parts));
	slow_format_object(rx, object, sizeof(object));
	slow_format_more(&thread->slow, more, sizeof(more));
	log_warn(thread->server->attr.log,
		 "slow: %s%s took %llu ms: %s; %" PRIu64 " bytes in, %" PRIu64
		 " out, status %" PRIu32 "; %s (%s), user %" PRIu32
		 ", job %.*s%s",
		 wire_op_name(rx->req.op), object, took / CLOCK_NS_PER_MS,
		 parts, rx->bytes_in + rx->data_len, rx->bytes_out, status,
		 s->info.peer, s->info.cred.name,
		 as && !s->info.cred.uid ? le32toh(as->uid) : s->info.cred.uid,
		 WIRE_JOB_MAX, s->labels.job[0] ? s->labels.job : "-", more);
}

void request_time_end(struct rx *rx, uint64_t now, uint32_t status)
{
	uint64_t slow = slow_ns(rx), took = now - rx->arrived;

	if (!slow || took < slow || rx->time.wait_expected)
		return;
	request_time_add(&rx->time, request_time_part(&rx->time), now);
	if (slow_line_is_allowed(&rx->conn->thread->slow, now))
		slow_log_request(rx, took, status);
}
