/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_service.c - the sessions of an iod, and the dispatch of requests to operations. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/copy/copies.h"
#include "server/copyset/assignments.h"
#include "server/copyset/promise_exchange.h"
#include "server/once/change_records.h"
#include "server/wait/gate_waiter.h"
#include "server/wait/lease.h"
#include "server/op/op.h"
#include "server/iod_int.h"
#include "server/state/capability_check.h"
#include "common/comm/cluster/mgr_addresses.h"

static int session_admit(void *arg, enum wire_role role, const char *peer,
			 const struct rpc_cred *cred)
{
	const struct iod *iod = arg;

	if (role != WIRE_ROLE_MGR || iod->ring ||
	    mgr_addresses_match(iod->mgr_addresses, peer))
		return 0; /* with a key it has proved that it is the manager */
	log_warn(iod->log,
		 "%s (%s, uid %u) says that it is the manager, which connects "
		 "from %s: refused; if it is, add its address to [mgr] from",
		 peer, cred->name, cred->uid,
		 iod->conf.mgr_from[0] ? iod->conf.mgr_from : "nowhere");
	return -EKEYREJECTED;
}

/*
 * Before the first lease, only the manager is admitted.  The iod may still have the wrong store,
 * and may not know all sessions that the manager has fenced.
 */
static int check_ready(const struct iod *iod, enum wire_role role)
{
	return role == WIRE_ROLE_MGR || lease_was_given(iod) ? 0 : -EAGAIN;
}

static int session_open(void *arg, struct rpc_session *session)
{
	struct rpc_session_info *info = rpc_session_info(session);
	struct iod *iod = arg;
	struct worker *w = &iod->worker[info->ctx_index];
	struct iod_session *ses;
	int rc = check_ready(iod, info->role);

	if (rc)
		return rc;
	if (store_fence_has(iod->store, info->id)) {
		log_warn(iod->log,
			 "%s (%s): session %016llx was fenced off by the "
			 "manager; the program must be started again",
			 info->peer, info->cred.name,
			 (unsigned long long)info->id);
		return -ESTALE;
	}
	ses = calloc(1, sizeof(*ses));
	if (!ses)
		return -ENOMEM;
	ses->disk_client = disk_client_new();
	if (!ses->disk_client) {
		free(ses);
		return -ENOMEM;
	}
	ses->id = info->id;
	ses->client = info->role == WIRE_ROLE_CLIENT;
	ses->mgr = info->role == WIRE_ROLE_MGR;
	ses->worker = w;
	ses->refs = 1;
	STAILQ_INIT(&ses->waits);
	zone_owner_init(&ses->owner);
	zone_owner_init(&ses->order_owner);
	LIST_INSERT_HEAD(&w->sessions, ses, link);
	info->priv = ses;
	return 0;
}

static void session_close(void *arg, struct rpc_session *session, bool clean)
{
	struct rpc_session_info *info = rpc_session_info(session);
	struct iod_session *ses = info->priv;
	struct iod *iod = arg;

	info->priv = NULL;
	loan_session_end(iod->loans, info->id);
	if (clean)
		change_records_end_session(iod->change_records, info->id);
	if (ses)
		session_unref(ses);
}

/* The objects that the request needs up to date, *n of them; NULL: none. */
static const le64 *objects_of(const struct rpc_req *req, uint32_t *n)
{
	const struct wire_objects *objects = req->msg.body;

	*n = 1;
	switch (req->op) {
	case WIRE_READ:
	case WIRE_WRITE:
	case WIRE_READ_LIST:
	case WIRE_WRITE_LIST:
	case WIRE_RESIZE:
	case WIRE_FALLOCATE:
	case WIRE_SEEK:
	case WIRE_COUNTER:
		return req->msg.body;
	case WIRE_COPY: /* handle and from */
		*n = 2;
		return req->msg.body;
	case WIRE_GETSIZE:
		*n = le32toh(objects->n);
		return req->msg.tail[0].ptr;
	default:
		*n = 0;
		return NULL;
	}
}

/*
 * Returns true if an object of the request has a late change: then the request waits for the
 * end of the change, or was answered.
 */
static bool waits_for_late_change(struct worker *w, struct rpc_req *req)
{
	const struct gate *gate = store_gate(w->iod->store);
	struct object_key key;
	const le64 *handle;
	uint32_t i, n;

	handle = objects_of(req, &n);
	if (n)
		loan_table_expire(w->iod->loans);
	for (i = 0; i < n; i++) {
		/* the group of a COPY's source is not that of the request */
		key = i && req->op == WIRE_COPY
			      ? object_key_own(le64toh(handle[i]))
			      : request_key(req, handle[i]);
		if (gate_is_shut(gate, key) && gate_waiter_start(w, req, key))
			return true;
	}
	return false;
}

/*
 * Checks an order of a manager, which must first claim the store.  After a restart of the iod, the
 * manager may repeat earlier orders before its claim.  They get -EAGAIN, and are repeated again.
 */
static int check_manager_term(const struct iod_session *ses, unsigned int op)
{
	if (op == WIRE_CLAIM)
		return 0;
	if (session_is_stale(ses))
		return -ESTALE;
	if (op == WIRE_RESIZE || op == WIRE_FENCE || op == WIRE_LEASE ||
	    op == WIRE_ASSIGN)
		return ses->term ? 0 : -EAGAIN;
	return store_claimed(ses->worker->iod->store) ? 0 : -EAGAIN;
}

struct operation {
	/* Answers req, now or later. */
	void (*run)(struct worker *w, struct rpc_req *req);
	/* 1 << WIRE_ROLE_* for each role that may send it */
	unsigned int roles;
};

#define ROLE(r) (1u << WIRE_ROLE_##r)
#define ANYONE (ROLE(CLIENT) | ROLE(MGR) | ROLE(IOD))

static const struct operation operations[] = {
	[WIRE_PING] = { op_ping, ANYONE },
	[WIRE_STATFS] = { op_statfs, ANYONE },
	[WIRE_READ] = { op_read, ANYONE },
	[WIRE_WRITE] = { op_write, ANYONE },
	[WIRE_RESIZE] = { op_resize, ROLE(MGR) },
	[WIRE_SYNC] = { op_sync, ANYONE },
	[WIRE_GETSIZE] = { op_getsize, ANYONE },
	[WIRE_REMOVE] = { op_remove, ROLE(MGR) },
	[WIRE_FENCE] = { op_fence, ROLE(MGR) },
	[WIRE_READ_LIST] = { op_read, ANYONE },
	[WIRE_WRITE_LIST] = { op_write, ANYONE },
	[WIRE_OBJECTS] = { op_objects, ROLE(MGR) },
	[WIRE_CLAIM] = { op_claim, ROLE(MGR) },
	[WIRE_DISK] = { op_disk, ANYONE },
	[WIRE_LEASE] = { op_lease, ROLE(MGR) },
	[WIRE_FALLOCATE] = { op_fallocate, ANYONE },
	[WIRE_COPY] = { op_copy, ANYONE },
	[WIRE_SEEK] = { op_seek, ANYONE },
	[WIRE_BORROW] = { op_borrow, ROLE(CLIENT) },
	[WIRE_COUNTER] = { op_counter, ROLE(CLIENT) },
	[WIRE_PLACE] = { op_place, ROLE(CLIENT) },
	[WIRE_SHARE] = { op_share, ROLE(CLIENT) },
	[WIRE_ORDER] = { op_order, ROLE(IOD) },
	[WIRE_PROMISE] = { op_promise, ROLE(IOD) },
	[WIRE_ASSIGN] = { op_assign, ROLE(MGR) },
	[WIRE_OUTCOME] = { op_outcome, ROLE(CLIENT) },
};

/* NULL: not an operation of the iod. */
static const struct operation *find_operation(unsigned int op)
{
	if (op >= sizeof(operations) / sizeof(operations[0]) ||
	    !operations[op].run)
		return NULL;
	return &operations[op];
}

static int check_request(const struct rpc_req *req, const struct operation *op)
{
	const struct rpc_session_info *info = rpc_session_info(req->session);
	struct iod_session *ses = info->priv;
	int rc;

	if (ses->fenced)
		return -ESTALE;
	if (!op)
		return -ENOSYS;
	if (op->roles & 1u << info->role) {
		rc = check_manager_term(ses, req->op);
		return rc ? rc : capability_check(ses, req);
	}
	log_warn(ses->worker->iod->log,
		 "%s (%s): %s is for other kinds of programs: refused",
		 info->peer, info->cred.name, wire_op_name(req->op));
	return -EPERM;
}

/* A change is checked again when it begins (change.h), and an order only then. */
static int check_copyset(const struct iod *iod, const struct rpc_req *req)
{
	struct copyset_ref ref = wire_copyset(req->msg.hdr);

	if (!ref.id || req->op == WIRE_ORDER)
		return 0;
	return copyset_check(iod->assignments, ref);
}

void service_run(struct worker *w, struct rpc_req *req)
{
	const struct operation *op = find_operation(req->op);
	int rc = check_request(req, op);

	if (!rc)
		rc = check_copyset(w->iod, req);
	if (rc) {
		rpc_reply_status(req, rc);
	} else if (!waits_for_late_change(w, req) &&
		   (!wire_op_changes(req->op) || lease_check(w, req))) {
		op->run(w, req);
	}
}

static void on_request(void *arg, struct rpc_req *req)
{
	service_run(session_of(req)->worker, req);
}

static uint64_t object_of(const struct rpc_req *req)
{
	uint32_t n;
	const le64 *handle = objects_of(req, &n);

	return n ? le64toh(handle[0]) : 0;
}

/*
 * Whether the peer's user is an administrator: root, or the user of the iod.  With squash, no user
 * of another host is one.
 */
static bool peer_rules(const struct iod *iod, const char *peer, uint32_t uid)
{
	if (iod->conf.squash && !peer_is_here(peer))
		return false;
	return !uid || uid == geteuid();
}

static bool sees_all(void *arg, struct rpc_session *session)
{
	const struct rpc_session_info *info = rpc_session_info(session);

	return peer_rules(arg, info->peer, info->cred.uid);
}

static bool may_reserve(void *arg, enum wire_role role, const char *peer,
			uint32_t uid)
{
	const struct iod *iod = arg;

	if (role == WIRE_ROLE_MGR)
		return !iod->ring &&
		       mgr_addresses_match(iod->mgr_addresses, peer);
	return peer_rules(iod, peer, uid);
}

void service_add_usage(void *arg, const struct loan_user *who,
		       const struct loan_usage usage[2])
{
	struct rpc_direct_io all[2];
	struct rpc_label label = { .uid = who->uid };
	struct iod *iod = arg;

	for (unsigned int i = 0; i < 2; i++) {
		all[i] = (struct rpc_direct_io){ .n = usage[i].n,
						 .bytes = usage[i].bytes,
						 .ns = usage[i].ns };
		memcpy(all[i].bucket, usage[i].bucket, sizeof(all[i].bucket));
	}
	memcpy(label.job, who->job, sizeof(label.job));
	rpc_server_add_direct_io(iod->server, &label, all);
}

static void report_loan_usage(void *arg)
{
	loan_table_report_usage(((struct iod *)arg)->loans);
}

const struct rpc_service iod_service = {
	.session_admit = session_admit,
	.session_open = session_open,
	.session_close = session_close,
	.sees_all = sees_all,
	.may_reserve = may_reserve,
	.report_direct_io = report_loan_usage,
	.object = object_of,
	.metrics = service_metrics,
	.request = on_request,
};
