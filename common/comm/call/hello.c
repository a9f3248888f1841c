/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello.c - how a client introduces itself: the private data of the connect, the HELLO request, the
 * server's answers to them, and BYE.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/call/peer_int.h"

#define HELLO_MAX 1024
_Static_assert(sizeof(struct wire_hdr) + sizeof(struct wire_hello) +
			       4 * WIRE_GROUPS_MAX +
			       sizeof(((struct rpc_cred *)0)->name) +
			       sizeof(struct wire_job) + WIRE_JOB_MAX +
			       sizeof(struct wire_seal) +
			       sizeof(struct wire_shown) + WIRE_TICKET_MAX +
			       sizeof(struct wire_proof) <=
		       HELLO_MAX,
	       "HELLO_MAX");

static uint32_t hello_features(struct rpc_peer *peer)
{
	return peer->features | WIRE_FT_V3 |
	       (atomic_load(&peer->recorded) ? WIRE_FT_RECORDED : 0);
}

int hello_begin(struct rpc_peer *peer, struct peer_private *priv)
{
	int rc;

	priv->wc = (struct wire_connect){
		.magic = htole32(WIRE_MAGIC),
		.version = htole16(WIRE_VERSION),
		.role = htole16((uint16_t)peer->role),
		.fsid = htole64(peer->fsid),
		.session = htole64(peer->session),
		.epoch = htole32(++peer->epoch),
		.reply_max = htole32(PEER_MSG_MAX),
	};
	priv->hail = (struct wire_hail){ htole32(hello_features(peer)), { 0 } };
	rc = peer_auth_begin(peer, &priv->hail, priv, sizeof(*priv));
	return rc ? rc : (int)sizeof(*priv);
}

/* ---- buffers ---- */

/* One block: nslots requests, nrecv replies and parts, one HELLO or BYE. */
static int alloc_block(struct rpc_peer *peer, unsigned int credits)
{
	unsigned int n = credits < PEER_SLOTS_MAX ? credits : PEER_SLOTS_MAX;
	unsigned int nrecv = n + 1 +
			     (peer->link.ctx->carry ? WIRE_CARRY_MAX : 0);
	size_t len = (n + nrecv) * PEER_MSG_MAX + HELLO_MAX;

	if (peer->nslots)
		return 0;
	peer->slots = calloc(n, sizeof(*peer->slots));
	peer->block = aligned_alloc(4096, (len + 4095) & ~(size_t)4095);
	if (!peer->slots || !peer->block)
		goto fail;
	rail_mem_init(&peer->mem, peer->block, len, TP_LOCAL_WRITE);
	peer->nslots = n;
	peer->nrecv = nrecv;
	peer->free = n == 64 ? UINT64_MAX : (1ull << n) - 1;
	return 0;
fail:
	free(peer->block);
	free(peer->slots);
	peer->block = NULL;
	peer->slots = NULL;
	return -ENOMEM;
}

static int register_block(struct rpc_peer *peer)
{
	unsigned int rail = peer->link.rail;
	int rc = rail_mem_on(&peer->mem, &peer->link.ctx->rails, rail);

	if (!rc)
		peer->lkey = peer->mem.mr[rail]->lkey;
	return rc;
}

void *peer_recv_buf(const struct rpc_peer *peer, unsigned int index)
{
	if (index >= peer->nrecv)
		return bulk_link_recv_buf(peer, index - peer->nrecv);
	return peer->block + (peer->nslots + index) * PEER_MSG_MAX;
}

int peer_post_recv(struct rpc_peer *peer, unsigned int index)
{
	struct tp_recv_wr wr = {
		.wr_id = index,
		.sge = { .addr = peer_recv_buf(peer, index),
			 .len = PEER_MSG_MAX,
			 .lkey = peer->lkey },
	};

	if (index >= peer->nrecv)
		return bulk_link_post_recv(peer, index - peer->nrecv);
	return tp_post_recv(peer->link.ep, &wr);
}

static void *hello_buf(const struct rpc_peer *peer)
{
	return peer->block + (peer->nslots + peer->nrecv) * PEER_MSG_MAX;
}

/* ---- HELLO and BYE ---- */

/* HELLO and BYE use no slot: slot 0, and seq is not a number of a call. */
static int hello_post(struct rpc_peer *peer, struct wire_out *out, int op)
{
	struct tp_sge sge = { .addr = out->buf, .lkey = peer->lkey };
	struct wire_hdr *hdr = (struct wire_hdr *)out->buf;
	int len = wire_end(out, (unsigned int)op, 0, 0), rc = 0;

	if (len < 0)
		return len;
	if (op == WIRE_BYE && peer->unclean)
		hdr->flags = htole16(WIRE_F_UNSURE);
	if (op == WIRE_HELLO && peer->link.ctx->carry)
		hdr->flags = htole16(WIRE_F_CARRY);
	if (op == WIRE_HELLO && peer->agreed & WIRE_FT_V3 &&
	    bulk_link_is_wanted(peer))
		hdr->flags |= htole16(WIRE_F_APART);
	if (op == WIRE_HELLO && peer->names_job)
		hdr->flags |= htole16(WIRE_F_JOB);
	hdr->session = htole64(peer->session);
	if (op == WIRE_HELLO && peer->shake.server == WIRE_ROLE_IOD)
		hdr->seq = htole64(wire_meant(peer->shake.index));
	if (op == WIRE_HELLO && peer->proving)
		rc = peer_auth_put_proof(peer, hdr, (size_t)len);
	if (rc)
		return rc;
	sge.len = (uint32_t)len;
	return link_send(&peer->link, &sge, 1, 0);
}

static void put_job(struct rpc_peer *peer, struct wire_out *out)
{
	size_t len = strnlen(peer->job, sizeof(peer->job));
	struct wire_job job = { .len = htole32((uint32_t)len) };

	wire_put(out, &job, sizeof(job));
	wire_put(out, peer->job, len);
}

static int hello_send(struct rpc_peer *peer)
{
	const struct rpc_cred *cred = &peer->cred;
	size_t name_len = strnlen(cred->name, sizeof(cred->name));
	le32 groups[WIRE_GROUPS_MAX];
	struct wire_hello hello = {
		.uid = htole32(cred->uid),
		.gid = htole32(cred->gid),
		.ngroups = htole32(cred->ngroups),
		.name_len = htole32((uint32_t)name_len),
	};
	struct wire_out out;
	uint32_t i;
	int rc = 0;

	if (cred->ngroups > WIRE_GROUPS_MAX)
		return -EINVAL;
	for (i = 0; i < cred->ngroups; i++)
		groups[i] = htole32(cred->groups[i]);
	wire_begin(&out, hello_buf(peer), HELLO_MAX);
	wire_put(&out, &hello, sizeof(hello));
	wire_put(&out, groups, i * sizeof(groups[0]));
	wire_put(&out, cred->name, name_len);
	if (peer->names_job)
		put_job(peer, &out);
	if (peer->proving)
		rc = peer_auth_put_ticket(peer, &out);
	return rc ? rc : hello_post(peer, &out, WIRE_HELLO);
}

int hello_start(struct rpc_peer *peer, const struct wire_accept *acc)
{
	unsigned int i;
	int rc;

	peer->granted = le32toh(acc->credits);
	peer->request_max = le32toh(acc->request_max);
	rc = alloc_block(peer, peer->granted);
	if (!rc)
		rc = register_block(peer);
	if (rc)
		return rc;
	if (peer->granted > peer->nslots)
		peer->granted = peer->nslots;
	peer->credits = peer->granted;
	for (i = 0; i < peer->nrecv; i++) {
		rc = peer_post_recv(peer, i);
		if (rc)
			return rc;
	}
	return hello_send(peer);
}

void hello_bye(struct rpc_peer *peer)
{
	struct wire_out out;

	wire_begin(&out, hello_buf(peer), HELLO_MAX);
	if (!hello_post(peer, &out, WIRE_BYE))
		ctx_rails_arm(peer->link.ctx);
}

/* ---- the server's answers ---- */

/* Returns false. */
static bool set_refusal(struct hello_refusal *no, int status, const char *why)
{
	no->status = status;
	no->why = why;
	return false;
}

static bool set_impostor(struct hello_refusal *no, const char *flaw)
{
	no->impostor = true;
	return set_refusal(no, -EKEYREJECTED, flaw);
}

/* The server refused us with status. */
static void explain_refusal(const struct rpc_peer *peer, int status,
			    const struct wire_accept *acc,
			    struct hello_refusal *no)
{
	set_refusal(no, status, no->text);
	if (status == -EPROTONOSUPPORT)
		snprintf(no->text, sizeof(no->text),
			 "the server speaks protocol version %u, this program "
			 "%u to %u; install the same release on both, or the "
			 "one before",
			 le16toh(acc->version), WIRE_VERSION,
			 WIRE_VERSION_NEWEST);
	else if (status == -ENXIO)
		snprintf(no->text, sizeof(no->text),
			 "the server serves file system %016llx, wanted is "
			 "%016llx; check the address",
			 (unsigned long long)le64toh(acc->fsid),
			 (unsigned long long)peer->fsid);
	else if (status == -ESTALE)
		snprintf(no->text, sizeof(no->text),
			 "the session has ended (fenced, or an old connect)");
	else if (status == -EKEYREVOKED)
		snprintf(no->text, sizeof(no->text),
			 "an administrator has ended the session "
			 "(pvfs-evict)");
	else if (status == -EACCES)
		snprintf(no->text, sizeof(no->text),
			 "this host is in none of the networks that it "
			 "serves; see [filesystem] allow in its configuration");
	else if (status == -EKEYREJECTED && peer->role == WIRE_ROLE_CLIENT)
		snprintf(no->text, sizeof(no->text),
			 "it does not accept the identity of this program, "
			 "or wants the connection sealed; see its log, "
			 "and auth= in pvfstab");
	else if (status == -EKEYREJECTED)
		snprintf(no->text, sizeof(no->text),
			 "it does not take this program for what it says that "
			 "it is; see its log, and [filesystem] key or [mgr] "
			 "from in its configuration");
	else
		snprintf(no->text, sizeof(no->text), "%s", strerror(-status));
}

/*
 * Whether to retry after a rejection.  This process may be a server on the same host as the other
 * server, and its IP address in none of that server's allowed networks.  The other server admits it
 * once it also listens on the local transport.
 */
static bool may_retry(const struct rpc_peer *peer, int status)
{
	return status == -EAGAIN || status == -EBUSY || status == -ENOMEM ||
	       status == -WIRE_ENOFILES || status == -WIRE_ENOSEATS ||
	       (status == -EACCES && peer->role != WIRE_ROLE_CLIENT);
}

/* An older server would take the number of the list for groups of the user. */
static bool would_lose_groups(const struct rpc_peer *peer)
{
	return peer->features & ~rpc_peer_features(peer) & WIRE_FT_GROUPS &&
	       wire_groups_listed(peer->cred.groups, peer->cred.ngroups);
}

bool hello_check_accept(struct rpc_peer *peer, const struct tp_event *ev,
			struct wire_accept *acc, struct hello_refusal *no)
{
	struct wire_hail hail;
	const char *why = NULL;

	if (wire_check_accept(ev->priv, ev->priv_len, &why)) {
		peer_protocol_error(peer, why);
		return false;
	}
	memcpy(acc, ev->priv, sizeof(*acc));
	wire_take_hail(ev->priv, ev->priv_len, sizeof(*acc), &hail);
	atomic_store(&peer->agreed,
		     le32toh(hail.features) & (peer->features | WIRE_FT_V3));
	if (!acc->credits) {
		peer_protocol_error(peer, "no credits in the accept");
		return false;
	}
	if (would_lose_groups(peer))
		return set_refusal(
			no, -E2BIG,
			"this user is in more than 64 groups, which a "
			"manager of its release does not take: upgrade "
			"the manager");
	peer->names_job = peer->job[0] && rpc_peer_features(peer) & WIRE_FT_JOB;
	why = peer_auth_check_accept(peer, acc, &hail, ev->priv, ev->priv_len);
	return why ? set_impostor(no, why) : true;
}

void hello_rejected(struct rpc_peer *peer, const struct tp_event *ev,
		    struct hello_refusal *no)
{
	struct wire_accept acc = { 0 };
	const char *why = NULL;
	int status = wire_check_accept(ev->priv, ev->priv_len, &why);

	if (status && status != -EPROTONOSUPPORT) {
		link_fail(&peer->link, -EPROTO);
		return;
	}
	rail_choice_stop(peer);
	memcpy(&acc, ev->priv,
	       ev->priv_len < sizeof(acc) ? ev->priv_len : sizeof(acc));
	if (!status)
		status = -(int)le16toh(acc.status);
	if (!status || may_retry(peer, status))
		link_fail(&peer->link, status ? status : -EPROTO);
	else
		explain_refusal(peer, status, &acc, no);
}

bool hello_check_reply(struct rpc_peer *peer, const struct wire_msg *msg,
		       struct hello_refusal *no)
{
	struct wire_accept none = { .version = htole16(WIRE_VERSION) };
	const struct wire_hello_rep *rep = msg->body;
	int status = -(int)le32toh(msg->hdr->status), refusal = -EKEYREJECTED;
	const char *flaw = NULL;
	uint32_t flags, credits;

	if (le16toh(msg->hdr->op) != WIRE_HELLO || peer->bulk.joining) {
		peer_protocol_error(peer, "the first reply is not to HELLO");
		return false;
	}
	if (peer->proving)
		flaw = peer_auth_check_reply(peer, msg, &refusal, no->text,
					     sizeof(no->text));
	if (peer->proving && !flaw && !status)
		flaw = peer_auth_seal(peer, msg);
	if (may_retry(peer, status)) {
		link_fail(&peer->link, status);
		return false;
	}
	if (flaw) {
		set_impostor(no, flaw);
		no->status = refusal;
		return false;
	}
	if (status == -WIRE_ENOTLEADER) {
		if (peer->leaders)
			leader_search_take_name(peer->leaders, msg->tail[0].ptr,
						msg->tail[0].len);
		link_fail(&peer->link, status);
		return false;
	}
	if (status == -ENXIO)
		return set_refusal(
			no, status,
			peer_auth_other_iod(peer, le64toh(msg->hdr->seq),
					    no->text, sizeof(no->text)));
	if (status) {
		explain_refusal(peer, status, &none, no);
		return false;
	}
	if (peer->link.failed.queued)
		return false;
	flags = le32toh(rep->flags);
	peer->carries = peer->link.ctx->carry && flags & WIRE_H_CARRY;
	peer->shortage = flags & WIRE_H_NOFILES	  ? -WIRE_ENOFILES
			 : flags & WIRE_H_NOSEATS ? -WIRE_ENOSEATS
						  : 0;
	credits = le32toh(rep->credits);
	if (credits && credits < peer->credits)
		peer->credits = credits;
	peer->hello.clock = msg->hdr->clock;
	peer->hello.rep = *rep;
	return true;
}
