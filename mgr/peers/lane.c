/* SPDX-License-Identifier: BSD-2-Clause */
/* lane.c - a connection to another manager: its queue, its calls, and pauses after refusals. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/peers/peers_int.h"

#define PAUSE_FIRST_MS 100u
#define PAUSE_MAX_MS 2000u

#define REQUEST_MAX                                                            \
	(sizeof(struct wire_hdr) + sizeof(struct wire_raft) + WIRE_RAFT_INLINE)

struct lane_message {
	STAILQ_ENTRY(lane_message) link;
	struct lane *lane;
	uint64_t deadline;
	struct rpc_call call;
	bool large; /* the receiver reads it from our memory */
	struct rail_mem mem, *area; /* if large */
	size_t len;
	uint8_t data[];
};

/* ---- the connection ---- */

static int lane_connect(struct lane *lane)
{
	const struct peer *peer = lane->peer;
	const struct peers_attr *attr = &peer->peers->attr;
	char name[64];

	snprintf(name, sizeof(name), "manager %016llx, %s",
		 (unsigned long long)peer->manager.id, lane->what);
	return peers_connect(attr, &peer->manager.addr, name, false,
			     &lane->rpc);
}

int lane_open(struct lane *lane)
{
	STAILQ_INIT(&lane->waiting);
	return lane_connect(lane);
}

static void drop_waiting(struct lane *lane)
{
	struct lane_message *m;

	while ((m = STAILQ_FIRST(&lane->waiting))) {
		STAILQ_REMOVE_HEAD(&lane->waiting, link);
		lane->bytes -= m->len;
		free(m);
	}
}

void lane_close(struct lane *lane)
{
	lane->closing = true;
	if (!lane->rpc)
		return;
	rpc_peer_close(lane->rpc, true);
	lane->rpc = NULL;
	drop_waiting(lane);
}

/* ---- refusals ---- */

/*
 * Returns the advice to log after check_sender() or session_admit() of the other manager has
 * rejected this one with this status.
 */
static const char *remedy_of(int status)
{
	switch (status) {
	case -EPERM:
		return "it does not know this manager, which was removed from "
		       "the group or has just joined it";
	case -ESTALE:
		return "it is in another group: stop the managers of the group "
		       "that is not meant to serve, and empty their storage";
	case -ENXIO:
		return "its storage was replaced: run pvfs-managers replace";
	default:
		return "use the same pvfs.conf and key on the hosts of all "
		       "managers";
	}
}

static void note_refusal(struct lane *lane, int status)
{
	const struct peers_attr *attr = &lane->peer->peers->attr;

	if (!lane->pause_ms)
		log_error(attr->log,
			  "%s: refuses messages of this manager: %s: %s",
			  rpc_peer_name(lane->rpc), strerror(-status),
			  remedy_of(status));
	lane->refused = true;
	lane->pause_ms = lane->pause_ms ? lane->pause_ms * 2 : PAUSE_FIRST_MS;
	if (lane->pause_ms > PAUSE_MAX_MS)
		lane->pause_ms = PAUSE_MAX_MS;
	lane->resume = clock_after_ms(lane->pause_ms);
	drop_waiting(lane);
}

static void note_result(struct lane *lane, int status)
{
	switch (status) {
	case 0:
		lane->pause_ms = 0;
		break;
	case -ETIMEDOUT: /* rpc connects again */
	case -ECANCELED:
	case -EBUSY:
	case -ENOMEM:
		break;
	default:
		if (!lane->refused)
			note_refusal(lane, status);
	}
}

/*
 * Ends the pause after a rejection, with a new session, because the server may reject the previous
 * one for ever.  0: messages may be sent.
 */
static int end_refusal(struct lane *lane)
{
	struct rpc_peer *before = lane->rpc;
	int rc;

	if (!lane->refused)
		return 0;
	if (clock_now() < lane->resume || lane->in_flight)
		return -ECONNREFUSED;
	rc = lane_connect(lane);
	if (rc)
		return rc;
	rpc_peer_close(before, true);
	lane->refused = false;
	return 0;
}

/* ---- messages ---- */

static void lane_issue(struct lane *lane);

/* A result that the other manager sent in the reply. */
static void receive_reply(struct lane *lane, const struct rpc_call *call)
{
	const struct peers_attr *attr = &lane->peer->peers->attr;
	const struct wire_tail *data = &call->reply.tail[0];

	if (!call->status && data->len)
		attr->receive(attr->arg, lane->peer->manager.id, data->ptr,
			      data->len);
}

static void on_answer(struct rpc_call *call)
{
	struct lane_message *m = call->arg;
	struct lane *lane = m->lane;

	lane->in_flight--;
	lane->bytes -= m->len;
	if (m->large) {
		lane->large = false;
		/* the server may still be reading */
		if (call->status)
			rail_mem_drop(&m->mem);
		else
			rail_mem_fini(&m->mem);
	}
	note_result(lane, call->status);
	receive_reply(lane, call);
	free(m);
	if (!lane->closing)
		lane_issue(lane);
}

static size_t inline_max(const struct lane *lane)
{
	return rpc_peer_features(lane->rpc) & WIRE_FT_RAFT
		       ? WIRE_RAFT_INLINE
		       : WIRE_RAFT_INLINE_V2;
}

/* Returns the length of the request in buf. */
static size_t build_request(const struct lane_message *m, void *buf, size_t cap)
{
	const struct peer *peer = m->lane->peer;
	uint32_t len = (uint32_t)m->len;
	struct wire_raft body = {
		.group = htole64(peer->peers->attr.group),
		.from = htole64(peer->peers->attr.id),
		.to = htole64(peer->manager.id),
		.len = htole32(len),
		.nmem = htole32(m->large ? 1 : 0),
		.data_len = htole32(m->large ? 0 : len),
	};
	/* rpc adds the key */
	struct wire_mem mem = { .addr = htole64((uintptr_t)m->data),
				.len = htole32(len) };
	struct wire_out out;

	wire_begin(&out, buf, cap);
	wire_put(&out, &body, sizeof(body));
	if (m->large)
		wire_put(&out, &mem, sizeof(mem));
	else
		wire_put(&out, m->data, len);
	return (size_t)wire_end(&out, WIRE_RAFT, 0, 0);
}

static void send_message(struct lane_message *m)
{
	struct lane *lane = m->lane;
	uint64_t buf[REQUEST_MAX / 8];

	m->large = m->len > inline_max(lane);
	m->call = (struct rpc_call){ .msg = buf,
				     .msg_len = build_request(m, buf,
							      sizeof(buf)),
				     .deadline = m->deadline,
				     .quiet = true,
				     .done = on_answer,
				     .arg = m };
	if (m->large) {
		rail_mem_init(&m->mem, m->data, m->len, TP_REMOTE_READ);
		m->area = &m->mem;
		m->call.area = &m->area;
		m->call.nareas = 1;
		m->call.pieces_at = sizeof(struct wire_hdr) +
				    sizeof(struct wire_raft);
		m->call.npieces = 1;
		lane->large = true;
	}
	lane->in_flight++;
	rpc_call_start(lane->rpc, &m->call);
}

/* Sends what may be in flight now.  Nothing overtakes a large message, which the receiver reads. */
static void lane_issue(struct lane *lane)
{
	struct lane_message *m;

	while ((m = STAILQ_FIRST(&lane->waiting))) {
		if (lane->in_flight == LANE_CALLS || lane->large)
			return;
		STAILQ_REMOVE_HEAD(&lane->waiting, link);
		if (clock_now() < m->deadline) {
			send_message(m);
			continue;
		}
		lane->bytes -= m->len;
		free(m);
	}
}

int lane_send(struct lane *lane, const void *data, size_t len)
{
	struct lane_message *m;
	int rc = end_refusal(lane);

	if (rc)
		return rc;
	if (lane->bytes + len > lane->limit)
		return -ENOBUFS;
	m = malloc(sizeof(*m) + len);
	if (!m)
		return -ENOMEM;
	m->lane = lane;
	m->deadline = clock_after_ms(lane->peer->peers->attr.timeout_ms);
	m->len = len;
	memcpy(m->data, data, len);
	lane->bytes += len;
	STAILQ_INSERT_TAIL(&lane->waiting, m, link);
	lane_issue(lane);
	return 0;
}
