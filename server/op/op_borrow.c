/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_borrow.c - BORROW: lends an object's descriptor to a client of this host.
 *
 * After a restart of the iod, a client's repeated request is compared with the changes since the
 * restart (recent_changes.h).  Direct writes are not recorded there.  So objects are lent for
 * writing only when clients can no longer repeat requests from before the restart.  For a new store
 * there are no such requests.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "server/op/op_int.h"
#include "server/state/capability_check.h"

/*
 * Whether the client may borrow.  A borrower with write access to a file can block all other
 * clients of the file, and the iod's threads, for any time (docs/administrators.md).
 */
static bool is_trusted(const struct iod *iod, const struct tp_identity *id)
{
	return iod->conf.direct == IOD_LEND_ALL || !id->uid ||
	       id->uid == geteuid();
}

static bool may_lend_for_writing(struct iod *iod,
				 const struct wire_borrow *body)
{
	if (!(le32toh(body->flags) & WIRE_B_WRITE) || !iod_lends_writing(iod))
		return false;
	if (iod->new_store)
		recent_changes_forget(iod->recent);
	return iod->new_store || clock_now() - iod->started >=
					 RECENT_CHANGES_MS * CLOCK_NS_PER_MS;
}

static int open_object(struct iod *iod, const struct rpc_req *req, bool write,
		       struct store_obj **obj)
{
	const struct wire_borrow *body = req->msg.body;
	struct object_key key = request_key(req, body->handle);

	if (key.handle == WIRE_B_NO_OBJECT) /* and it is never made */
		return -ENOENT;
	if (write)
		return change_open_object(iod, key, obj);
	return store_obj_get(iod->store, key, false, obj);
}

static int pass_descriptors(struct rpc_req *req, const struct loan_grant *lent)
{
	const struct wire_borrow *body = req->msg.body;
	int fd[1 + LOAN_PAGE_COUNT] = { lent->fd, lent->page[0], lent->page[1],
					lent->page[2] };
	bool pages = le32toh(body->flags) & WIRE_B_PAGES;

	return rpc_req_send_fds(req, fd, pages ? 1 + LOAN_PAGE_COUNT : 1);
}

static void send_loan(struct rpc_req *req, const struct loan_grant *lent,
		      uint32_t flags)
{
	const struct wire_borrow *body = req->msg.body;
	struct wire_borrow_rep rep = {
		.number = htole64(lent->number),
		.inode = htole64(lent->inode),
		.index = htole32(lent->index),
		.stripe = htole32(gate_place(le64toh(body->handle))),
		.flags = htole32(flags),
	};

	op_reply(req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
}

static uint32_t reply_flags(const struct iod *iod,
			    const struct loan_grant *lent)
{
	return (lent->write ? WIRE_B_WRITE : 0) |
	       (lent->clock ? WIRE_B_CLOCK : 0) |
	       (store_in_memory(iod->store) ? 0 : WIRE_B_WAITS);
}

/* The loan ends with the first of the client's rights that ends. */
static void set_loan_limits(struct rpc_req *req, bool write,
			    struct loan_request *ask)
{
	const struct wire_borrow *body = req->msg.body;
	const struct iod_session *ses = session_of(req);
	uint64_t handle = le64toh(body->handle);
	uint64_t read = capability_until(ses, handle, WIRE_NEED_READ);
	uint64_t change = capability_until(ses, handle, WIRE_NEED_WRITE);
	uint64_t now = clock_boot();

	ask->read = read > now;
	ask->write = write && change > now;
	ask->era = ses->rights.era;
	ask->until = ask->read ? read : UINT64_MAX;
	if (ask->write && change < ask->until)
		ask->until = change;
}

static int lend_object(struct worker *w, struct rpc_req *req,
		       struct store_obj *obj, const struct tp_identity *id,
		       bool write)
{
	const struct rpc_session_info *info = rpc_session_info(req->session);
	struct loan_request ask = { .session = info->id, .peer = info->peer };
	struct rpc_label label;
	struct loan_grant lent;
	int rc;

	/* a client of an earlier release does not see that an object was set aside */
	if (!(info->features & WIRE_FT_ASIDE))
		return -EOPNOTSUPP;
	ask.pid = id->pid;
	ask.uid = id->uid;
	ask.trusted = is_trusted(w->iod, id);
	rpc_session_label(req->session, &label);
	ask.who.uid = label.uid;
	memcpy(ask.who.job, label.job, sizeof(ask.who.job));
	set_loan_limits(req, write, &ask);
	rc = loan_table_lend(w->iod->loans, obj, &ask, &lent);
	if (rc)
		return rc;
	rc = pass_descriptors(req, &lent);
	close(lent.fd);
	if (rc)
		loan_table_cancel(w->iod->loans, info->id, &lent);
	else
		send_loan(req, &lent, reply_flags(w->iod, &lent));
	return rc;
}

void op_borrow(struct worker *w, struct rpc_req *req)
{
	const struct wire_borrow *body = req->msg.body;
	bool write, trusted;
	struct store_obj *obj;
	struct tp_identity id;
	/* nothing ends a loan if a copyset gets another primary */
	int rc = w->iod->conf.direct == IOD_LEND_NOTHING ||
				 wire_copyset(req->msg.hdr).id
			 ? -EOPNOTSUPP
			 : rpc_req_identity(req, &id);

	if (rc) {
		rpc_reply_status(req, rc);
		return;
	}
	trusted = is_trusted(w->iod, &id);
	write = trusted && may_lend_for_writing(w->iod, body);
	rc = open_object(w->iod, req, write, &obj);
	if (rc == -ENOENT) {
		send_loan(req, &(struct loan_grant){ 0 },
			  WIRE_B_NONE | (trusted && iod_lends_writing(w->iod)
						 ? WIRE_B_WRITE
						 : 0));
		return;
	}
	if (!rc) {
		rc = lend_object(w, req, obj, &id, write);
		store_obj_put(obj);
	}
	if (rc)
		rpc_reply_status(req, rc);
}
