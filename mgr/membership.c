/* SPDX-License-Identifier: BSD-2-Clause */
/* membership.c - see membership.h. */
#include "mgr/membership.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/util/daemon.h"
#include "mgr/auth/auth.h"
#include "mgr/group/group.h"
#include "mgr/managers_service.h"
#include "mgr/peers/peers.h"

#define MESSAGE_TIMEOUT_MS 1000u
#define HAND_OVER_MS 1000u
#define TURN_MS 10u /* between checks of a deadline */
#define NO_LEADER_MS 10000u /* until this is logged */

/* ---- open and close ---- */

static void receive_message(void *arg, uint64_t from, const void *data,
			    size_t len)
{
	struct mgr *mgr = arg;

	mgr_group_receive(mgr->group, data, len);
}

/* The member of [mgr.N] has the id N + 1. */
static int open_peers(struct mgr *mgr)
{
	const struct server_mgrs *all = &mgr->conf.mgrs;
	struct peers_manager managers[WIRE_MGR_MAX];
	struct peers_attr attr = { .ctx = mgr->ctx,
				   .log = mgr->log,
				   .fsid = mgr->conf.fsid,
				   .prover = keyring_prover(mgr->ring),
				   .seal = mgr->conf.auth.seal,
				   .group = mgr->conf.fsid,
				   .id = mgr->conf.index + 1,
				   .managers = managers,
				   .n = all->n,
				   .timeout_ms = MESSAGE_TIMEOUT_MS,
				   .receive = receive_message,
				   .arg = mgr };

	for (unsigned int i = 0; i < all->n; i++)
		managers[i] = (struct peers_manager){ i + 1, all->addr[i] };
	return peers_open(&attr, &mgr->peers);
}

static int open_group(struct mgr *mgr)
{
	const struct server_mgrs *all = &mgr->conf.mgrs;
	char uri[WIRE_MGR_MAX][ADDR_STRLEN];
	struct member_address voters[WIRE_MGR_MAX];
	const struct group_attr attr = { .storage = mgr->conf.storage,
					 .fsid = mgr->conf.fsid,
					 .st = mgr->st,
					 .cp = mgr->cp,
					 .ctx = mgr->ctx,
					 .id = mgr->conf.index + 1,
					 .voters = voters,
					 .n = all->n,
					 .peers = { mgr->peers, peers_send },
					 .log = mgr->log };

	for (unsigned int i = 0; i < all->n; i++)
		voters[i] = (struct member_address){
			i + 1,
			addr_format(&all->addr[i], uri[i], sizeof(uri[i]))
		};
	return mgr_group_open(&attr, &mgr->group);
}

int membership_open(struct mgr *mgr)
{
	int rc = open_peers(mgr);

	if (rc)
		log_error(mgr->log, "connections to the other managers: %s",
			  strerror(-rc));
	return rc ? rc : open_group(mgr);
}

void membership_close(struct mgr *mgr)
{
	mgr_group_close(mgr->group);
	peers_close(mgr->peers);
}

/* ---- the leader ---- */

static const char *address_of(const struct member_status *status, uint64_t id)
{
	for (unsigned int i = 0; i < status->n; i++)
		if (status->peers[i].id == id)
			return status->peers[i].address;
	return NULL;
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
	leader->index = (uint32_t)(status.leader - 1);
	snprintf(leader->uri, sizeof(leader->uri), "%s", address);
}

/* Logs once that it waits for a leader, and each change of the leader. */
struct leader_watch {
	uint64_t leader; /* 0: none is known */
	bool ready; /* "ready" was logged */
	uint64_t report_at; /* clock_now(): that there is none */
};

static void report_follows(const struct mgr *mgr, bool first, uint64_t id,
			   const char *address)
{
	char uri[ADDR_STRLEN];

	if (first)
		log_always(mgr->log,
			   "ready: mgr at %s, storage %s, version %s, follows "
			   "manager %llu at %s",
			   addr_format(&mgr->conf.addr, uri, sizeof(uri)),
			   mgr->conf.storage, PVFS_VERSION,
			   (unsigned long long)id - 1, address);
	else
		log_info(mgr->log, "follows manager %llu at %s",
			 (unsigned long long)id - 1, address);
}

static void watch_leader(const struct mgr *mgr, struct leader_watch *w)
{
	struct member_status status;
	const char *address;
	uint64_t leader;

	mgr_group_get_status(mgr->group, &status);
	address = address_of(&status, status.leader);
	leader = address ? status.leader : 0;
	if (!leader && clock_now() >= w->report_at) {
		w->report_at = CLOCK_NEVER;
		log_warn(mgr->log,
			 "no manager leads for %u s: a majority of the %u "
			 "managers must run and reach each other",
			 NO_LEADER_MS / 1000, status.n);
	}
	if (leader == w->leader)
		return;
	w->leader = leader;
	w->report_at = leader ? CLOCK_NEVER : clock_after_ms(NO_LEADER_MS);
	if (!leader || status.role == MEMBER_LEADER)
		return;
	report_follows(mgr, !w->ready, leader, address);
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
		 "%s (%s, uid %u) says that it is a manager, and is not at an "
		 "address of [mgr.N]: refused",
		 peer, cred->name, cred->uid);
	return -EKEYREJECTED;
}

void membership_handle_request(struct mgr *mgr, struct rpc_req *rpc)
{
	if (!peers_handle_request(mgr->peers, rpc) &&
	    !managers_handle_request(mgr, rpc))
		rpc_reply_status(rpc, rpc->op == WIRE_PING ? 0 : -EPERM);
}
