/* SPDX-License-Identifier: BSD-2-Clause */
/* managers_service.c - see managers_service.h. */
#include "mgr/managers_service.h"

#include <errno.h>
#include <string.h>

#include "mgr/copy_service.h"
#include "mgr/group/group.h"
#include "mgr/request/caller.h"
#include "common/util/clock.h"
#include "common/util/container.h"

#define LAG_MAX 1000u /* entries */

/* ---- the state ---- */

static void put_member(struct wire_out *out, const struct mgr *mgr,
		       const struct member_peer_status *m)
{
	uint64_t filled = copy_service_sent(mgr, m->id);
	uint32_t flags = (m->voter ? WIRE_MM_VOTER : 0) |
			 (m->recent ? WIRE_MM_RECENT : 0) |
			 (filled ? WIRE_MM_FILLED : 0);
	struct wire_member member = { .id = htole64(m->id),
				      .lag = htole64(m->lag),
				      .filled = htole64(filled),
				      .flags = htole32(flags) };

	memcpy(member.uri, m->address, strnlen(m->address, sizeof(member.uri)));
	wire_put(out, &member, sizeof(member));
}

static void put_group(struct wire_out *out, const struct mgr *mgr)
{
	struct member_status s;
	struct wire_managers_rep rep;

	mgr_group_get_status(mgr->group, &s);
	rep = (struct wire_managers_rep){
		.group = htole64(mgr_group_number(mgr->group)),
		.term = htole64(s.term),
		.leader = htole64(s.leader),
		.self = htole64(mgr_group_id(mgr->group)),
		.first = htole64(s.first),
		.last = htole64(s.last),
		.committed = htole64(s.committed),
		.applied = htole64(s.applied),
		.log_bytes = htole64(s.log_bytes),
		.log_limit = htole64(s.log_limit),
		.role = htole32(s.role),
		.flags = htole32(
			(s.lease ? WIRE_MS_LEASE : 0) |
			(s.log_full ? WIRE_MS_FULL : 0) |
			(mgr_group_changes(mgr->group) ? WIRE_MS_CHANGE : 0)),
		.n = htole32(s.n),
	};
	wire_put(out, &rep, sizeof(rep));
	for (unsigned int i = 0; i < s.n; i++)
		put_member(out, mgr, &s.peers[i]);
}

_Static_assert(MEMBERS_MAX == WIRE_MEMBERS_MAX, "all members fit");
_Static_assert((int)MEMBER_FOLLOWER == WIRE_MR_FOLLOWER &&
		       (int)MEMBER_CANDIDATE == WIRE_MR_CANDIDATE &&
		       (int)MEMBER_LEADER == WIRE_MR_LEADER,
	       "roles");

/* There is one manager, without a group. */
static void put_alone(struct wire_out *out)
{
	const struct wire_managers_rep rep = { .role = htole32(
						       WIRE_MR_LEADER) };

	wire_put(out, &rep, sizeof(rep));
}

static void answer_state(struct mgr *mgr, struct rpc_req *rpc)
{
	struct wire_out *out = rpc_reply_begin(rpc);

	if (mgr->group)
		put_group(out, mgr);
	else
		put_alone(out);
	rpc_reply_end(rpc, 0, RPC_REEXECUTE);
	rpc_reply_send(rpc);
}

/* ---- changes ---- */

/* The addresses of all managers are in the configuration of each of them. */
static bool is_configured(const struct mgr *mgr, const char *uri, size_t len)
{
	char known[ADDR_STRLEN];

	for (unsigned int i = 0; i < mgr->conf.mgrs.n; i++) {
		addr_format(&mgr->conf.mgrs.addr[i], known, sizeof(known));
		if (strlen(known) == len && !memcmp(known, uri, len))
			return true;
	}
	return false;
}

static int check_new(const struct mgr *mgr, const struct member_status *status,
		     const char *uri)
{
	if (!is_configured(mgr, uri, strlen(uri)))
		return -EDESTADDRREQ;
	for (unsigned int i = 0; i < status->n; i++)
		if (!strcmp(status->peers[i].address, uri))
			return -EEXIST;
	return 0;
}

/*
 * The new manager repeats JOIN.  The first one adds it without a vote; once it is up to date, it
 * gets one.  Other changes of the group are not delayed meanwhile.
 */
static int join_member(struct mgr *mgr, const struct rpc_req *rpc,
		       const struct member_status *status)
{
	const struct wire_managers *body = rpc->msg.body;
	uint64_t id = le64toh(body->id);
	const struct member_peer_status *member = member_status_find(status,
								     id);
	char uri[WIRE_LEADER_URI_MAX + 1] = "";
	const struct member_address new = { id, uri };
	int rc;

	if (caller_of(rpc->session))
		return -EPERM;
	if (status->role != MEMBER_LEADER)
		return -ENOTCONN;
	/* a new file system may be a mistake, which its iods tell */
	if (!mgr->serves || mgr->fresh)
		return -EAGAIN;
	if (member && member->voter)
		return 0;
	if (member) {
		rc = mgr_group_promote(mgr->group, id);
		return rc == -EBUSY || rc == -EAGAIN ? 0 : rc;
	}
	memcpy(uri, rpc->msg.tail[0].ptr, rpc->msg.tail[0].len);
	rc = check_new(mgr, status, uri);
	if (!rc)
		rc = mgr_group_add(mgr->group, &new);
	if (!rc)
		log_info(mgr->log,
			 "the manager at %s joins the group as member %016llx",
			 uri, (unsigned long long)id);
	return rc;
}

/*
 * Whether the member has answered recently and lacks at most LAG_MAX log entries, as is normal
 * under load.  A member that still copies a database lacks more.
 */
static bool is_up_to_date(const struct member_peer_status *m)
{
	return m->recent && m->lag <= LAG_MAX;
}

/* Whether the members that remain and are up to date are a majority of themselves. */
static bool keeps_majority(const struct member_status *status, uint64_t without)
{
	unsigned int voters = 0, good = 0;

	for (unsigned int i = 0; i < status->n; i++) {
		const struct member_peer_status *m = &status->peers[i];

		if (!m->voter || m->id == without)
			continue;
		voters++;
		good += is_up_to_date(m);
	}
	return good > voters / 2;
}

static int check_change(const struct rpc_req *rpc,
			const struct member_status *status)
{
	const struct caller *caller = caller_of(rpc->session);

	if (!caller || !caller_is_admin(caller))
		return -EPERM;
	return status->role == MEMBER_LEADER && status->lease ? 0 : -ENOTCONN;
}

static void on_removed(void *arg, int rc)
{
	struct mgr *mgr = arg;
	struct rpc_req *rpc = mgr->removal.rpc;

	mgr->removal.rpc = NULL;
	if (rpc && rc)
		rpc_reply_status(rpc, rc);
	else if (rpc)
		answer_state(mgr, rpc);
}

static int begin_removal(struct mgr *mgr, uint64_t id)
{
	struct member_status status;
	const struct member_peer_status *member;

	mgr_group_get_status(mgr->group, &status);
	member = member_status_find(&status, id);
	if (status.role != MEMBER_LEADER)
		return -ENOTCONN;
	if (!member)
		return -ENOENT;
	if (!keeps_majority(&status, id))
		return -EHOSTDOWN;
	log_info(mgr->log, "removes member %016llx at %s from the group",
		 (unsigned long long)id, member->address);
	return mgr_group_remove(mgr->group, id, on_removed, mgr);
}

/*
 * Members count as recent for one election timeout, so all of these have answered after the
 * request.
 */
static void removal_due(struct rpc_timer *timer)
{
	struct mgr *mgr = container_of(timer, struct mgr, removal.timer);
	int rc = begin_removal(mgr, mgr->removal.id);

	if (rc)
		on_removed(mgr, rc);
}

/*
 * Begins the removal after one election timeout, because a member may have stopped just before the
 * request.  If the running members would be no majority after the removal, it is rejected then: the
 * group could not even undo it.
 */
static int remove_member(struct mgr *mgr, struct rpc_req *rpc, uint64_t id,
			 const struct member_status *status)
{
	int rc = check_change(rpc, status);

	/* its removal may be going on, and fail */
	if (!rc && (mgr->removal.rpc || mgr_group_changes(mgr->group)))
		rc = -EBUSY;
	if (!rc && !member_status_find(status, id))
		rc = -ENOENT;
	if (!rc && id == mgr_group_id(mgr->group))
		rc = -EINVAL;
	if (rc)
		return rc;
	mgr->removal.rpc = rpc;
	mgr->removal.id = id;
	mgr->removal.timer.fire = removal_due;
	rpc_timer_set(mgr->ctx, &mgr->removal.timer,
		      clock_after_ms(GROUP_ELECTION_MS));
	return 0;
}

static int transfer_leadership(struct mgr *mgr, const struct rpc_req *rpc,
			       uint64_t to, const struct member_status *status)
{
	const struct member_peer_status *member = member_status_find(status,
								     to);
	int rc = check_change(rpc, status);

	if (!rc && member && member->voter && !is_up_to_date(member))
		rc = -EHOSTDOWN;
	return rc ? rc : mgr_group_transfer(mgr->group, to);
}

void managers_service_stop(struct mgr *mgr)
{
	struct rpc_req *rpc = mgr->removal.rpc;

	rpc_timer_clear(mgr->ctx, &mgr->removal.timer);
	mgr->removal.rpc = NULL;
	if (rpc)
		rpc_req_abort(rpc);
}

/* ---- the request ---- */

/* 0: the state is the answer; 1: it is answered later; or -errno. */
static int execute_command(struct mgr *mgr, struct rpc_req *rpc)
{
	const struct wire_managers *body = rpc->msg.body;
	struct member_status status;
	int rc;

	if (le32toh(body->cmd) == WIRE_MA_STATUS)
		return 0;
	if (!mgr->group)
		return -ENOSYS;
	mgr_group_get_status(mgr->group, &status);
	switch (le32toh(body->cmd)) {
	case WIRE_MA_JOIN:
		return join_member(mgr, rpc, &status);
	case WIRE_MA_REMOVE:
		rc = remove_member(mgr, rpc, le64toh(body->id), &status);
		return rc ? rc : 1;
	default:
		return transfer_leadership(mgr, rpc, le64toh(body->id),
					   &status);
	}
}

bool managers_handle_request(struct mgr *mgr, struct rpc_req *rpc)
{
	int rc;

	if (rpc->op != WIRE_MANAGERS)
		return false;
	rc = execute_command(mgr, rpc);
	if (rc < 0)
		rpc_reply_status(rpc, rc);
	else if (!rc)
		answer_state(mgr, rpc);
	return true;
}
