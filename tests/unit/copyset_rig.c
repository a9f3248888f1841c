/* SPDX-License-Identifier: BSD-2-Clause */
/* copyset_rig.c - see copyset_rig.h. */
#include "tests/unit/copyset_rig.h"

#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/util/usermem.h"

#define SLOTS 8u

static const struct log silent = { .level = LOG_LV_ERROR };

/* ---- the manager ---- */

static unsigned int put_rows(const struct copyset_rig *rig, uint64_t since,
			     uint32_t from, struct wire_copyset *to,
			     uint32_t *next)
{
	unsigned int n = 0, i = from > COPYSET_FIRST ? from - COPYSET_FIRST : 0;

	for (; i < RIG_SETS && n < WIRE_COPYSETS_MAX; i++) {
		const struct rig_row *row = &rig->row[i];

		if (row->revision <= since)
			continue;
		to[n] = (struct wire_copyset){
			.id = htole32(COPYSET_FIRST + i),
			.version = htole32(row->version),
			.n = htole32(1),
		};
		to[n].member[0].iod = htole16(row->iod);
		if (row->iod == RIG_IODS) {
			to[n].member[0].iod = 0;
			to[n].member[0].state = htole16(WIRE_CS_OFFLINE);
		}
		n++;
	}
	*next = i < RIG_SETS ? COPYSET_FIRST + i : 0;
	return n;
}

static void answer_copysets(struct copyset_rig *rig, struct rpc_req *req)
{
	const struct wire_copysets *body = req->msg.body;
	const struct wire_ring ring[] = { { .copies = htole32(1),
					    .n = htole32(RIG_IODS) },
					  { .id = htole32(1),
					    .copies = htole32(1),
					    .first = htole32(COPYSET_FIRST),
					    .n = htole32(RIG_SETS) } };
	static struct wire_copyset row[WIRE_COPYSETS_MAX];
	struct wire_copysets_rep rep = { .revision = htole64(rig->revision) };
	uint64_t since = le64toh(body->since);
	uint32_t n = 0, next = 0;
	struct wire_out *out;

	rig->questions += !body->from;
	if (rig->manager_status) {
		rpc_reply_status(req, rig->manager_status);
		return;
	}
	if (since != rig->revision)
		n = put_rows(rig, since, le32toh(body->from), row, &next);
	rig->rows += n;
	rep.rings = htole32(since != rig->revision ? 2 : 0);
	rep.n = htole32(n);
	rep.next = htole32(next);
	out = rpc_reply_begin(req);
	wire_put(out, &rep, sizeof(rep));
	if (rep.rings)
		wire_put(out, ring, sizeof(ring));
	wire_put(out, row, n * sizeof(row[0]));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}

/* ---- the iods ---- */

static void reply_body(struct rpc_req *req, const void *body, size_t len)
{
	struct wire_out *out = rpc_reply_begin(req);

	wire_put(out, body, len);
	rpc_reply_end(req, 0, 0);
	rpc_reply_send(req);
}

static void do_write(struct copyset_rig *rig, struct rpc_req *req,
		     unsigned int set)
{
	const struct wire_region *region = req->msg.tail[0].ptr;
	uint64_t off = le64toh(region->off), len = le64toh(region->len);
	const void *data = rpc_req_data(req);
	struct wire_io_rep rep = { .done = htole64(len) };

	/* no assertion of Check: this is another thread */
	if (!data || off + len > RIG_OBJECT) {
		rpc_reply_status(req, -EIO);
		return;
	}
	memcpy(&rig->object[set][off], data, rig->partly ? len / 2 : len);
	if (rig->partly) {
		rig->partly = false;
		rig->refused++;
		rpc_reply_status(req, -WIRE_ECOPYSET);
		return;
	}
	if (off + len > rig->size[set])
		rig->size[set] = off + len;
	rep.size = htole64(rig->size[set]);
	reply_body(req, &rep, sizeof(rep));
}

static void do_read(struct copyset_rig *rig, struct rpc_req *req,
		    unsigned int set)
{
	const struct wire_region *region = req->msg.tail[0].ptr;
	const struct wire_io *body = req->msg.body;
	uint64_t off = le64toh(region->off), len = le64toh(region->len);
	uint64_t end = off + len < rig->size[set] ? off + len : rig->size[set];
	uint64_t done = end > off ? end - off : 0;
	struct wire_io_rep rep = { .done = htole64(done),
				   .size = htole64(rig->size[set]),
				   .data_len = htole32((uint32_t)done) };
	struct wire_out *out;

	if (body->nmem) {
		rpc_reply_status(req, -EIO);
		return;
	}
	out = rpc_reply_begin(req);
	wire_put(out, &rep, sizeof(rep));
	wire_put(out, &rig->object[set][off], done);
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	rpc_reply_send(req);
}

static void do_getsize(struct copyset_rig *rig, struct rpc_req *req,
		       unsigned int set)
{
	const struct {
		struct wire_getsize_rep rep;
		struct wire_objsize size;
	} body = { { .n = htole32(1) }, { .size = htole64(rig->size[set]) } };

	reply_body(req, &body, sizeof(body));
}

static void do_counter(struct copyset_rig *rig, struct rpc_req *req,
		       unsigned int set)
{
	const struct wire_counter *body = req->msg.body;
	struct wire_counter_rep rep = { .old = htole64(
						(uint64_t)rig->counter[set]) };

	rig->counter[set] += (int64_t)le64toh(body->value);
	reply_body(req, &rep, sizeof(rep));
}

static void execute(struct copyset_rig *rig, struct rpc_req *req,
		    unsigned int set)
{
	switch (req->op) {
	case WIRE_WRITE:
		do_write(rig, req, set);
		break;
	case WIRE_READ:
		do_read(rig, req, set);
		break;
	case WIRE_GETSIZE:
		do_getsize(rig, req, set);
		break;
	case WIRE_COUNTER:
		do_counter(rig, req, set);
		break;
	default:
		rpc_reply_status(req, req->op == WIRE_SYNC ? 0 : -ENOSYS);
	}
}

/* The iod gets its new version after some requests. */
static bool serves(struct copyset_rig *rig, unsigned int iod, unsigned int set,
		   uint32_t version)
{
	struct rig_row *row = &rig->row[set];

	if (row->late && row->iod == iod && --row->late == 0) {
		rig->serves[iod][set] = row->version;
		return false;
	}
	return rig->serves[iod][set] && rig->serves[iod][set] == version;
}

static void answer_object(struct copyset_rig *rig, unsigned int iod,
			  struct rpc_req *req)
{
	struct copyset_ref ref = wire_copyset(req->msg.hdr);
	unsigned int set = ref.id - COPYSET_FIRST;

	if (!ref.id) {
		rig->own++;
		rpc_reply_status(req, -EROFS);
	} else if (set >= RIG_SETS) {
		rpc_reply_status(req, -EIO);
	} else if (rig->iod_status && !iod) {
		rpc_reply_status(req, rig->iod_status);
	} else if (!serves(rig, iod, set, ref.version)) {
		rig->refused++;
		rpc_reply_status(req, -WIRE_ECOPYSET);
	} else {
		execute(rig, req, set);
	}
}

/* ---- servers ---- */

static int opened(void *arg, struct rpc_session *session)
{
	return 0;
}

static void closed(void *arg, struct rpc_session *session, bool clean)
{
}

static void answer(void *arg, struct rpc_req *req)
{
	const struct rig_server *at = arg;

	pthread_mutex_lock(&at->rig->lock);
	if (req->op == WIRE_PING)
		reply_body(req, &(struct wire_ping_rep){ 0 },
			   sizeof(struct wire_ping_rep));
	else if (!at->number)
		answer_copysets(at->rig, req);
	else
		answer_object(at->rig, at->number - 1, req);
	pthread_mutex_unlock(&at->rig->lock);
}

static const struct rpc_service service = {
	.session_open = opened,
	.session_close = closed,
	.request = answer,
};

static void *serve(void *arg)
{
	struct copyset_rig *rig = arg;

	while (!atomic_load(&rig->stop))
		rpc_ctx_progress(rig->ctx, clock_after_ms(20));
	return NULL;
}

static void server_open(struct copyset_rig *rig, unsigned int i,
			struct addr *addr)
{
	struct rpc_server_attr attr = {
		.ctx = &rig->ctx,
		.nctx = 1,
		.log = &silent,
		.addr = { .scheme = "tcp", .host = "127.0.0.1" },
		.fsid = 7,
		.boot = 3 + i,
		.role = i ? WIRE_ROLE_IOD : WIRE_ROLE_MGR,
		.slots = SLOTS,
		.request_max = 8192,
		.reply_max = 16384,
		.max_sessions = 4,
		.session_ttl_ms = 60000,
		.features = WIRE_FT_COPIES,
		.service = &service,
		.arg = &rig->server[i],
	};

	rig->server[i].rig = rig;
	rig->server[i].number = i;
	ck_assert_int_eq(rpc_server_open(&attr, &rig->server[i].rpc), 0);
	rpc_server_addr(rig->server[i].rpc, addr);
}

static void peer_open(struct session *s, const struct addr *addr,
		      enum wire_role role, struct rpc_peer **peer)
{
	static const struct rpc_cred cred = { .name = "test" };
	const struct rpc_peer_attr attr = {
		.addr = *addr,
		.name = role == WIRE_ROLE_MGR ? "manager" : "iod",
		.role = WIRE_ROLE_CLIENT,
		.server = role,
		.session = 77,
		.cred = &cred,
		.features = WIRE_FT_COPIES,
	};

	ck_assert_int_eq(rpc_peer_open(s->drive.ctx, &attr, peer), 0);
}

static void client_open(struct copyset_rig *rig, const struct addr *addr)
{
	static struct rpc_peer *iod[RIG_IODS];
	const struct rpc_ctx_attr attr = { .log = &silent,
					   .dev = rig->client_dev };
	struct session *s = &rig->s;
	struct rpc_ctx *ctx;

	ck_assert_int_eq(rpc_ctx_open(&attr, &ctx), 0);
	drive_init(&s->drive, ctx, NULL);
	s->id = 77;
	s->log = &silent;
	s->direct = true;
	s->timeout_ms = 60000;
	s->niods = RIG_IODS;
	s->iod = iod;
	s->zero_fd = usermem_open();
	s->copysets = copysets_new(s);
	ck_assert_ptr_nonnull(s->copysets);
	peer_open(s, &addr[0], WIRE_ROLE_MGR, &s->mgr);
	for (unsigned int i = 0; i < RIG_IODS; i++)
		peer_open(s, &addr[1 + i], WIRE_ROLE_IOD, &iod[i]);
}

static void client_close(struct session *s)
{
	for (unsigned int i = 0; i < RIG_IODS; i++)
		rpc_peer_close(s->iod[i], true);
	rpc_peer_close(s->mgr, true);
	packs_free(&s->packs);
	copysets_free(s->copysets);
	close(s->zero_fd);
	rpc_ctx_close(s->drive.ctx);
	drive_destroy(&s->drive);
}

void copyset_rig_move(struct copyset_rig *rig, unsigned int set, uint16_t iod)
{
	struct rig_row *row = &rig->row[set];

	pthread_mutex_lock(&rig->lock);
	if (row->iod < RIG_IODS)
		rig->serves[row->iod][set] = 0;
	*row = (struct rig_row){ .version = row->version + 1,
				 .iod = iod,
				 .revision = ++rig->revision,
				 .late = rig->late };
	if (iod < RIG_IODS && !rig->late)
		rig->serves[iod][set] = row->version;
	pthread_mutex_unlock(&rig->lock);
}

void copyset_rig_open(struct copyset_rig *rig)
{
	const struct tp_dev_attr attr = { .log = &silent };
	struct rpc_ctx_attr ctx = { .log = &silent };
	struct addr addr[1 + RIG_IODS];

	memset(rig, 0, sizeof(*rig));
	pthread_mutex_init(&rig->lock, NULL);
	for (unsigned int i = 0; i < RIG_SETS; i++)
		copyset_rig_move(rig, i, (uint16_t)(i % RIG_IODS));
	ck_assert_int_eq(tp_dev_open("tcp", &attr, &rig->dev), 0);
	ck_assert_int_eq(tp_dev_open("tcp", &attr, &rig->client_dev), 0);
	ctx.dev = rig->dev;
	ck_assert_int_eq(rpc_ctx_open(&ctx, &rig->ctx), 0);
	for (unsigned int i = 0; i <= RIG_IODS; i++)
		server_open(rig, i, &addr[i]);
	ck_assert_int_eq(pthread_create(&rig->thread, NULL, serve, rig), 0);
	client_open(rig, addr);
}

void copyset_rig_close(struct copyset_rig *rig)
{
	client_close(&rig->s);
	atomic_store(&rig->stop, true);
	rpc_ctx_wake(rig->ctx);
	pthread_join(rig->thread, NULL);
	for (unsigned int i = 0; i <= RIG_IODS; i++)
		rpc_server_close(rig->server[i].rpc);
	rpc_ctx_close(rig->ctx);
	tp_dev_close(rig->client_dev);
	tp_dev_close(rig->dev);
	pthread_mutex_destroy(&rig->lock);
}
