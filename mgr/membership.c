/* SPDX-License-Identifier: BSD-2-Clause */
/* membership.c - see membership.h. */
#include "mgr/membership.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/util/daemon.h"
#include "common/util/random_id.h"
#include "mgr/auth/auth.h"
#include "mgr/copy_service.h"
#include "mgr/filling.h"
#include "mgr/group/group.h"
#include "mgr/joining.h"
#include "mgr/managers_service.h"
#include "mgr/peers/peers.h"

#define MESSAGE_TIMEOUT_MS 1000u
#define HAND_OVER_MS 1000u
#define TURN_MS 10u /* between checks of a deadline */
#define NO_LEADER_MS 10000u /* until this is logged */

/* ---- open and close ---- */

static bool receive_message(void *arg, uint64_t from, const void *data,
			    size_t len)
{
	struct mgr *mgr = arg;

	return mgr_group_receive(mgr->group, data, len);
}

static int open_peers(struct mgr *mgr, uint64_t group, uint64_t id)
{
	char hosts[WIRE_MGR_MAX * sizeof(mgr->conf.addr.host)];
	struct peers_attr attr;
	int rc = server_mgrs_hosts(&mgr->conf.mgrs, hosts, sizeof(hosts));

	joining_peers_attr(mgr, &attr);
	attr.group = group;
	attr.id = id;
	attr.hosts = hosts;
	attr.timeout_ms = MESSAGE_TIMEOUT_MS;
	attr.receive = receive_message;
	attr.arg = mgr;
	if (!rc)
		rc = peers_open(&attr, &mgr->peers);
	if (rc)
		log_error(mgr->log,
			  "cannot prepare connections to the other "
			  "managers: %s",
			  strerror(-rc));
	return rc;
}

static void on_fill(void *arg, uint64_t from, uint64_t index)
{
	struct mgr *mgr = arg;
	char uri[ADDR_STRLEN];

	if (joining_find_address(mgr, from, uri))
		mgr_group_give_up(mgr->group,
				  "the address of the leader is unknown");
	else
		filling_start(mgr, uri, index);
}

static bool goes_on(void *arg)
{
	struct mgr *mgr = arg;

	pulse_beat(daemon_pulse(mgr->daemon), 0);
	return !atomic_load(&mgr->stop);
}

static int open_group(struct mgr *mgr, uint64_t group, uint64_t id, bool founds)
{
	char uri[ADDR_STRLEN];
	const struct member_address self = {
		id, addr_format(&mgr->conf.addr, uri, sizeof(uri))
	};
	const struct group_attr attr = { .storage = mgr->conf.storage,
					 .fsid = mgr->conf.fsid,
					 .st = mgr->st,
					 .cp = mgr->cp,
					 .ctx = mgr->ctx,
					 .group = group,
					 .id = id,
					 .founds = founds,
					 .voters = &self,
					 .n = founds,
					 .peers = { mgr->peers, peers_send },
					 .fill = on_fill,
					 .goes_on = goes_on,
					 .arg = mgr,
					 .log = mgr->log };

	return mgr_group_open(&attr, &mgr->group);
}

/* The copy of another manager's would take the place of this database. */
static int refuse_to_join(struct mgr *mgr)
{
	mgr->retired = true;
	log_error(mgr->log,
		  "storage %s has a database that is in no group: manager %u "
		  "does not join the others, which would replace it; if it is "
		  "the one to serve, make it that of [mgr.0], and start the "
		  "others with empty storage; otherwise move it away",
		  mgr->conf.storage, mgr->conf.index);
	return -EEXIST;
}

static int choose_identity(struct mgr *mgr, uint64_t *group, uint64_t *id,
			   bool *founds)
{
	int rc = mgr_group_identity(mgr->conf.storage, mgr->log, group, id);
	bool owns;

	if (rc != -ENOENT)
		return rc;
	rc = ns_exists(mgr->st, &owns);
	if (rc)
		return rc;
	if (owns && mgr->conf.index)
		return refuse_to_join(mgr);
	rc = joining_find_group(mgr, !owns, group);
	if (owns && rc > 0)
		return refuse_to_join(mgr);
	*founds = !rc;
	if (!rc)
		rc = random_id(group);
	return rc < 0 ? rc : random_id(id);
}

int membership_open(struct mgr *mgr)
{
	uint64_t group, id;
	bool founds = false;
	int rc = choose_identity(mgr, &group, &id, &founds);

	if (!rc)
		rc = open_peers(mgr, group, id);
	if (!rc)
		rc = open_group(mgr, group, id, founds);
	return rc ? rc : joining_open(mgr);
}

void membership_stop(struct mgr *mgr)
{
	managers_service_stop(mgr);
	copy_service_stop(mgr);
	peers_reply_all(mgr->peers);
}

void membership_close(struct mgr *mgr)
{
	copy_service_close(mgr);
	filling_close(mgr);
	joining_close(mgr);
	mgr_group_close(mgr->group);
	peers_close(mgr->peers);
}

/* ---- the leader ---- */

static const char *address_of(const struct member_status *status, uint64_t id)
{
	const struct member_peer_status *member = member_status_find(status,
								     id);

	return member ? member->address : NULL;
}

/* The N of [mgr.N]; WIRE_LEADER_NONE: the configuration has no such address. */
static uint32_t index_of(const struct mgr *mgr, const char *address)
{
	char uri[ADDR_STRLEN];

	for (unsigned int i = 0; i < mgr->conf.mgrs.n; i++)
		if (!strcmp(addr_format(&mgr->conf.mgrs.addr[i], uri,
					sizeof(uri)),
			    address))
			return i;
	return WIRE_LEADER_NONE;
}

void membership_find_leader(void *arg, struct rpc_leader *leader)
{
	const struct mgr *mgr = arg;
	struct member_status status;
	const char *address;

	mgr_group_get_status(mgr->group, &status);
	address = address_of(&status, status.leader);
	if (!address)
		return;
	leader->index = index_of(mgr, address);
	snprintf(leader->uri, sizeof(leader->uri), "%s", address);
}

/* Logs once that it waits for a leader, and each change of the leader. */
struct leader_watch {
	uint64_t leader; /* 0: none is known */
	bool ready; /* "ready" was logged */
	uint64_t report_at; /* clock_now(): that there is none */
};

static void report_follows(const struct mgr *mgr, bool first,
			   const char *address)
{
	char uri[ADDR_STRLEN];

	if (first)
		log_always(mgr->log,
			   "ready: mgr at %s, storage %s, version %s, follows "
			   "manager %u at %s",
			   addr_format(&mgr->conf.addr, uri, sizeof(uri)),
			   mgr->conf.storage, PVFS_VERSION,
			   index_of(mgr, address), address);
	else
		log_info(mgr->log, "follows manager %u at %s",
			 index_of(mgr, address), address);
}

static bool has_vote(const struct mgr *mgr, const struct member_status *status)
{
	const struct member_peer_status *self =
		member_status_find(status, mgr_group_id(mgr->group));

	return self && self->voter;
}

static void report_leaderless(const struct mgr *mgr, unsigned int managers)
{
	if (managers)
		log_warn(mgr->log,
			 "no manager leads for %u s: a majority of the %u "
			 "managers must run and reach each other",
			 NO_LEADER_MS / 1000, managers);
	else
		log_warn(mgr->log,
			 "no leader has added this manager for %u s: one must "
			 "run, and of a new file system also all iods",
			 NO_LEADER_MS / 1000);
}

static void watch_leader(const struct mgr *mgr, struct leader_watch *w)
{
	struct member_status status;
	const char *address;
	uint64_t leader;

	mgr_group_get_status(mgr->group, &status);
	address = address_of(&status, status.leader);
	leader = address ? status.leader : 0;
	if (leader && !w->ready && !has_vote(mgr, &status))
		return;
	if (!leader && clock_now() >= w->report_at) {
		w->report_at = CLOCK_NEVER;
		report_leaderless(mgr, status.n);
	}
	if (leader == w->leader)
		return;
	w->leader = leader;
	w->report_at = leader ? CLOCK_NEVER : clock_after_ms(NO_LEADER_MS);
	if (!leader || status.role == MEMBER_LEADER)
		return;
	report_follows(mgr, !w->ready, address);
	w->ready = true;
}

int membership_follow(struct mgr *mgr)
{
	struct leader_watch w = { .report_at = clock_after_ms(NO_LEADER_MS) };
	enum group_state state;

	daemon_ready(mgr->daemon);
	while (!atomic_load(&mgr->stop)) {
		rpc_ctx_progress(mgr->ctx,
				 pulse_beat(daemon_pulse(mgr->daemon), 0));
		mgr_group_collect(mgr->group);
		mgr_auth_collect(mgr);
		state = mgr_group_state(mgr->group);
		if (state == GROUP_ELECTED)
			return 0;
		if (store_failed(mgr->st))
			return -EIO;
		if (state != GROUP_FOLLOWS)
			return -ESTALE;
		watch_leader(mgr, &w);
	}
	return 1;
}

void membership_hand_over(struct mgr *mgr)
{
	uint64_t end = clock_after_ms(HAND_OVER_MS);

	if (mgr_group_hand_over(mgr->group))
		return;
	while (mgr_group_state(mgr->group) == GROUP_LEADS &&
	       clock_now() < end) {
		rpc_ctx_progress(mgr->ctx, clock_after_ms(TURN_MS));
		mgr_group_collect(mgr->group);
	}
}

/* ---- sessions and requests ---- */

bool membership_is_manager(enum wire_role role, const struct rpc_cred *cred)
{
	return role == WIRE_ROLE_MGR && !strcmp(cred->name, PEERS_NAME);
}

int membership_admit(void *arg, enum wire_role role, const char *peer,
		     const struct rpc_cred *cred)
{
	struct mgr *mgr = arg;

	if (!membership_is_manager(role, cred))
		return mgr->serves && flusher_leads(mgr->fl) ? 0
							     : -WIRE_ENOTLEADER;
	if (peers_admit(mgr->peers, peer))
		return 0;
	log_warn(mgr->log,
		 "refused %s (%s, uid %u), which says that it is a manager: no "
		 "[mgr.N] of pvfs.conf has its address",
		 peer, cred->name, cred->uid);
	return -EKEYREJECTED;
}

static void reply_ping(struct mgr *mgr, struct rpc_req *rpc)
{
	mgr_put_ping(mgr, rpc_reply_begin(rpc));
	rpc_reply_end(rpc, 0, 0);
	rpc_reply_send(rpc);
}

void membership_handle_request(struct mgr *mgr, struct rpc_req *rpc)
{
	if (rpc->op == WIRE_PING)
		reply_ping(mgr, rpc);
	else if (!peers_handle_request(mgr->peers, rpc) &&
		 !managers_handle_request(mgr, rpc) &&
		 !copy_service_handle_request(mgr, rpc))
		rpc_reply_status(rpc, -EPERM);
}
