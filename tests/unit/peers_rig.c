/* SPDX-License-Identifier: BSD-2-Clause */
/* peers_rig.c - see peers_rig.h. */
#include "tests/unit/peers_rig.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define GROUP 5u
#define FSID 0x1234u
#define FDS_MAX 1024
#define LOG_END 2000u /* bytes that Check prints */

static void write_log(void *arg, enum log_level level, const char *msg)
{
	struct peers_rig *rig = arg;
	size_t left = sizeof(rig->text) - rig->text_len;
	int n = snprintf(rig->text + rig->text_len, left, "%s\n", msg);

	rig->text_len += (size_t)n < left ? (size_t)n : left - 1;
}

unsigned int peers_rig_logged(const struct peers_rig *rig, const char *text)
{
	unsigned int n = 0;

	for (const char *p = rig->text; (p = strstr(p, text)); p++)
		n++;
	return n;
}

const char *peers_rig_log_end(const struct peers_rig *rig)
{
	return rig->text +
	       (rig->text_len > LOG_END ? rig->text_len - LOG_END : 0);
}

/* ---- a node ---- */

static int admit(void *arg, enum wire_role role, const char *peer,
		 const struct rpc_cred *cred)
{
	struct peers_rig_node *node = arg;

	return role != WIRE_ROLE_MGR || peers_admit(node->peers, peer)
		       ? 0
		       : -EKEYREJECTED;
}

static void handle(void *arg, struct rpc_req *req)
{
	struct peers_rig_node *node = arg;

	if (peers_handle_request(node->peers, req))
		return;
	if (req->op == WIRE_PING) {
		struct wire_ping_rep rep = { 0 };

		wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
		rpc_reply_end(req, 0, 0);
		rpc_reply_send(req);
		return;
	}
	rpc_reply_status(req, -ENOSYS);
}

static void server_open(struct peers_rig *rig, struct peers_rig_node *node)
{
	struct rpc_server_attr attr = {
		.ctx = &node->ctx,
		.nctx = 1,
		.log = &rig->log,
		.addr = node->addr,
		.fsid = FSID,
		.boot = clock_now(),
		.prover = keyring_prover(node->ring),
		.seal = node->ring ? SEAL_ENCRYPT : SEAL_NONE,
		.role = WIRE_ROLE_MGR,
		.features = rig->older ? 0 : WIRE_FT_RAFT,
		.slots = 8,
		.request_max = sizeof(struct wire_hdr) + WIRE_BODY_MAX,
		.reply_max = 8192,
		.max_sessions = 16,
		.session_ttl_ms = 60000,
		.service = &node->service,
		.arg = node,
	};

	node->service = (struct rpc_service){ .session_admit = admit,
					      .request = handle };
	ck_assert_int_eq(rpc_server_open(&attr, &node->server), 0);
	rpc_server_addr(node->server, &node->addr);
}

static void open_peers(struct peers_rig *rig, struct peers_rig_node *node)
{
	struct peers_manager managers[PEERS_RIG_NODES];
	struct peers_attr attr = { .ctx = node->ctx,
				   .log = &rig->log,
				   .fsid = FSID,
				   .prover = keyring_prover(node->ring),
				   .seal = node->ring ? SEAL_ENCRYPT
						      : SEAL_NONE,
				   .group = node->group ? node->group : GROUP,
				   .id = node->id,
				   .hosts = rig->nodes[0].addr.host,
				   .timeout_ms = rig->timeout_ms,
				   .receive = rig->receive,
				   .arg = node->arg };

	unsigned int n = 0;

	for (unsigned int i = 0; i < PEERS_RIG_NODES; i++)
		if (node->lacks != i + 1)
			managers[n++] = (struct peers_manager){
				i + 1, rig->nodes[i].addr
			};
	ck_assert_int_eq(peers_open(&attr, &node->peers), 0);
	ck_assert_int_eq(peers_set(node->peers, managers, n), 0);
}

void peers_rig_server_open(struct peers_rig *rig, struct peers_rig_node *node)
{
	server_open(rig, node);
	open_peers(rig, node);
}

void peers_rig_server_close(struct peers_rig_node *node)
{
	peers_reply_all(node->peers);
	if (node->server)
		rpc_server_close(node->server);
	node->server = NULL;
	peers_close(node->peers);
	node->peers = NULL;
}

/* ---- all of them ---- */

static void open_node(struct peers_rig *rig, unsigned int i, const char *scheme)
{
	struct peers_rig_node *node = &rig->nodes[i];
	struct tp_dev_attr dev = { .log = &rig->log };
	struct rpc_ctx_attr ctx = { .log = &rig->log, .fabric = &node->fabric };

	node->id = node->id ? node->id : i + 1;
	node->ring = rig->ring[i > 0];
	snprintf(node->addr.scheme, sizeof(node->addr.scheme), "%s", scheme);
	strcpy(node->addr.host, "127.0.0.1");
	ck_assert_int_eq(fabric_open(&node->fabric, scheme, NULL, &dev), 0);
	ck_assert_int_eq(rpc_ctx_open(&ctx, &node->ctx), 0);
	server_open(rig, node);
}

void peers_rig_open(struct peers_rig *rig, const char *scheme)
{
	rig->log = (struct log){ LOG_LV_INFO, write_log, rig };
	for (unsigned int i = 0; i < PEERS_RIG_NODES; i++)
		open_node(rig, i, scheme);
	for (unsigned int i = 0; i < PEERS_RIG_NODES; i++)
		open_peers(rig, &rig->nodes[i]);
}

void peers_rig_close(struct peers_rig *rig)
{
	for (unsigned int i = 0; i < PEERS_RIG_NODES; i++) {
		struct peers_rig_node *node = &rig->nodes[i];

		peers_rig_server_close(node);
		rpc_ctx_close(node->ctx);
		fabric_close(&node->fabric);
	}
	keyring_close(rig->ring[0]);
	keyring_close(rig->ring[1]);
}

void peers_rig_cut(struct peers_rig *rig)
{
	struct sockaddr_storage sa;

	for (int fd = 3; fd < FDS_MAX; fd++) {
		socklen_t len = sizeof(sa);

		if (!getpeername(fd, (struct sockaddr *)&sa, &len))
			(void)shutdown(fd, SHUT_RDWR);
	}
}

void peers_rig_turn(struct peers_rig *rig)
{
	struct peers_rig_node *node = NULL;
	int n = 0;

	for (unsigned int i = 0; i < PEERS_RIG_NODES; i++) {
		if (rig->nodes[i].stopped)
			continue;
		node = &rig->nodes[i];
		n += rpc_ctx_progress(node->ctx, 0);
	}
	if (!n && node)
		rpc_ctx_progress(node->ctx, clock_now() + CLOCK_NS_PER_MS);
}

void peers_rig_for_ms(struct peers_rig *rig, unsigned int ms)
{
	uint64_t end = clock_after_ms(ms);

	do
		peers_rig_turn(rig);
	while (clock_now() < end);
}
