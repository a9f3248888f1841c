/* SPDX-License-Identifier: BSD-2-Clause */
/* joining.c - see joining.h. */
#include "mgr/joining.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/daemon.h"
#include "common/util/stamp.h"
#include "mgr/group/group.h"
#include "mgr/peers/manager_call.h"

#define ASK_MS 1000u /* for the answer of a manager */
#define TURN_MS 100u /* between checks */
#define JOIN_MS 300u /* between two JOINs */
#define FOUND_MS                                                               \
	10000u /* that the others have to answer before a group is founded */
#define MARK_FILE "joined" /* in the storage: the id of the member */
#define LEADERLESS_MS 3000u /* then a member asks whether it was removed */

void joining_peers_attr(const struct mgr *mgr, struct peers_attr *attr)
{
	*attr = (struct peers_attr){ .ctx = mgr->ctx,
				     .log = mgr->log,
				     .fsid = mgr->conf.fsid,
				     .prover = keyring_prover(mgr->ring),
				     .seal = mgr->conf.auth.seal };
}

/* ---- the group of the others ---- */

struct group_question {
	bool over;
	bool unclear; /* it may be in a group */
	uint64_t group;
};

/* A group without a leader may have ended; a member without a log was never added to it. */
static void on_group(void *arg, int rc, const struct managers_view *view)
{
	struct group_question *q = arg;

	q->over = true;
	if (rc)
		q->unclear = rc != -ECONNREFUSED;
	else if (view->leader && view->n)
		q->group = view->group;
	else
		q->unclear = view->n > 0;
}

static uint64_t ask_group(struct mgr *mgr, unsigned int index, bool *unclear)
{
	struct manager_call call = { 0 };
	struct peers_attr peers;
	struct group_question q = { 0 };
	const struct manager_call_attr attr = {
		.peers = &peers,
		.to = &mgr->conf.mgrs.addr[index],
		.cmd = WIRE_MA_STATUS,
		.timeout_ms = ASK_MS,
		.done = on_group,
		.arg = &q
	};

	joining_peers_attr(mgr, &peers);
	if (manager_call_start(&call, &attr))
		return 0;
	while (!q.over && !atomic_load(&mgr->stop))
		rpc_ctx_progress(mgr->ctx, clock_after_ms(TURN_MS));
	manager_call_close(&call);
	*unclear |= q.unclear;
	return q.group;
}

static uint64_t ask_all(struct mgr *mgr, bool *unclear)
{
	uint64_t group = 0;

	*unclear = false;
	for (unsigned int i = 0; !group && i < mgr->conf.mgrs.n; i++)
		if (i != mgr->conf.index && !atomic_load(&mgr->stop))
			group = ask_group(mgr, i, unclear);
	return group;
}

static void report_waiting(const struct mgr *mgr)
{
	if (mgr->conf.index)
		log_info(mgr->log,
			 "this manager waits to join a group: no other manager "
			 "of pvfs.conf answers and is in a group with a "
			 "leader; start that of [mgr.0]");
	else
		log_info(mgr->log,
			 "this manager waits up to %u s before it founds a "
			 "group: another one does not answer, or has no leader",
			 FOUND_MS / 1000);
}

static void wait_to_ask(struct mgr *mgr)
{
	uint64_t end = clock_after_ms(JOIN_MS);

	while (clock_now() < end && !atomic_load(&mgr->stop))
		rpc_ctx_progress(mgr->ctx, end);
	pulse_beat(daemon_pulse(mgr->daemon), 0);
}

int joining_find_group(struct mgr *mgr, bool empty, uint64_t *group)
{
	uint64_t end = clock_after_ms(FOUND_MS);
	bool reported = false, unclear;

	while (!atomic_load(&mgr->stop)) {
		*group = ask_all(mgr, &unclear);
		if (*group)
			return 1;
		if (!mgr->conf.index &&
		    (!empty || !unclear || clock_now() >= end))
			return atomic_load(&mgr->stop) ? -ECANCELED : 0;
		if (!reported)
			report_waiting(mgr);
		reported = true;
		wait_to_ask(mgr);
	}
	return -ECANCELED;
}

/* ---- a member that is not in the group, or no longer ---- */

struct joining {
	struct mgr *mgr;
	struct rpc_timer timer;
	struct manager_call call;
	uint64_t next; /* clock_now() of the next question */
	uint64_t leaderless; /* clock_now() since when; 0: a leader is known */
	unsigned int asked; /* index of the manager that is asked next */
	bool leads; /* it said last that it leads this group */
	bool joins; /* the last question is about a vote, not a removal */
	int refused; /* why, which is logged; or 0 */
	bool joined; /* the log has named this member, now or earlier */
	struct managers_view view; /* the last answer */
};

static const struct member_peer_status *
find_self(const struct mgr *mgr, const struct member_status *status)
{
	return member_status_find(status, mgr_group_id(mgr->group));
}

/*
 * A member that was removed must not join again under its id.  A snapshot may name members of a
 * time before this one was added, so the log does not tell, and the storage has a mark.
 */
static bool was_named(const struct mgr *mgr)
{
	int fd = openat(mgr->dirfd, MARK_FILE, O_RDONLY | O_CLOEXEC);
	char text[24] = "";
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 && strtoull(text, NULL, 16) == mgr_group_id(mgr->group);
}

static void note_named(struct joining *j)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%016llx\n",
			   (unsigned long long)mgr_group_id(j->mgr->group));

	j->joined = !stamp_replace(j->mgr->dirfd, MARK_FILE, text, (size_t)len);
}

static const char *remedy_of(int rc)
{
	switch (rc) {
	case -EEXIST:
		return "another member has the address of this manager, because "
		       "its storage was replaced: run pvfs-managers "
		       "replace on any client";
	case -EDESTADDRREQ:
		return "the leader's pvfs.conf lacks the address of this "
		       "manager: use the same pvfs.conf on all hosts of "
		       "managers, and restart them";
	case -EPERM:
		return "the leader does not accept this one as a manager: use "
		       "the same key and pvfs.conf on all hosts of managers";
	case -ESTALE:
		return "the managers of pvfs.conf are in different groups: stop "
		       "those of the group that is not meant to serve, and "
		       "empty their storage";
	}
	return NULL;
}

/* Logs a rejection once until it changes.  No answer, or a manager that does not lead, is none. */
static void report_refusal(struct joining *j, int rc)
{
	const char *remedy = remedy_of(rc);

	if (!remedy || rc == j->refused)
		return;
	j->refused = rc;
	log_error(j->mgr->log, "manager %u cannot join the group: %s",
		  j->mgr->conf.index, remedy);
}

/* A member that the leader does not list any more. */
static void check_removed(struct joining *j, const struct managers_view *view)
{
	struct mgr *mgr = j->mgr;

	if (view->role != WIRE_MR_LEADER || !view->n ||
	    managers_view_find(view, mgr_group_id(mgr->group)))
		return;
	mgr->retired = true;
	mgr_group_end(mgr->group,
		      "this manager was removed from the group: take it out of "
		      "pvfs.conf, or empty its storage to let it join again");
}

static void on_answer(void *arg, int rc, const struct managers_view *view)
{
	struct joining *j = arg;

	if (rc == -ECANCELED)
		return;
	if (!rc && view->group != mgr_group_number(j->mgr->group))
		rc = -ESTALE;
	j->leads = !rc && view->role == WIRE_MR_LEADER;
	if (!j->leads)
		j->asked++;
	if (rc) {
		report_refusal(j, rc);
		return;
	}
	j->view = *view;
	if (j->leaderless && !j->joins)
		check_removed(j, view);
}

static void ask_manager(struct joining *j, enum wire_managers_cmd cmd)
{
	const struct mgr *mgr = j->mgr;
	unsigned int index = j->asked % mgr->conf.mgrs.n;
	char uri[ADDR_STRLEN];
	struct peers_attr peers;
	bool joins = cmd == WIRE_MA_JOIN;
	const struct manager_call_attr attr = {
		.peers = &peers,
		.to = &mgr->conf.mgrs.addr[index],
		.cmd = cmd,
		.id = joins ? mgr_group_id(mgr->group) : 0,
		.uri = joins ? addr_format(&mgr->conf.addr, uri, sizeof(uri))
			     : NULL,
		.timeout_ms = ASK_MS,
		.done = on_answer,
		.arg = j
	};

	joining_peers_attr(mgr, &peers);
	if (index == mgr->conf.index)
		j->asked++;
	else
		manager_call_start(&j->call, &attr);
}

static void ask_if_due(struct joining *j, const struct member_status *status)
{
	const struct member_peer_status *self = find_self(j->mgr, status);
	uint64_t now = clock_now();
	bool joins = !self || !self->voter;

	if (status->leader)
		j->leaderless = 0;
	else if (!j->leaderless)
		j->leaderless = now;
	if (self && !j->joined)
		note_named(j);
	if (!self && j->joined)
		joins = false;
	if (!joins && self && status->leader)
		return;
	if (!joins && now < j->leaderless + LEADERLESS_MS * CLOCK_NS_PER_MS)
		return;
	if (status->role == MEMBER_LEADER || j->call.busy || now < j->next)
		return;
	j->next = clock_after_ms(JOIN_MS);
	j->joins = joins;
	ask_manager(j, joins && j->leads ? WIRE_MA_JOIN : WIRE_MA_STATUS);
}

/* ---- the connections ---- */

static unsigned int add_manager(struct peers_manager *to, uint64_t id,
				const char *uri)
{
	to->id = id;
	return !addr_parse(uri, 0, &to->addr);
}

static bool list_has(const struct peers_manager *managers, unsigned int n,
		     uint64_t id)
{
	for (unsigned int i = 0; i < n; i++)
		if (managers[i].id == id)
			return true;
	return false;
}

/*
 * Sets the managers to connect to: the members that the log names.  Until this member has a
 * vote, its log may be old.  So the members in the last reply of a manager are added.
 */
static void follow_members(struct joining *j,
			   const struct member_status *status)
{
	const struct member_peer_status *self = find_self(j->mgr, status);
	struct peers_manager managers[MEMBERS_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < status->n; i++)
		n += add_manager(&managers[n], status->peers[i].id,
				 status->peers[i].address);
	for (unsigned int i = 0;
	     !(self && self->voter) && i < j->view.n && n < MEMBERS_MAX; i++)
		if (!list_has(managers, n, j->view.member[i].id))
			n += add_manager(&managers[n], j->view.member[i].id,
					 j->view.member[i].uri);
	peers_set(j->mgr->peers, managers, n);
}

int joining_find_address(const struct mgr *mgr, uint64_t id, char *uri)
{
	const struct managers_view_member *named =
		managers_view_find(&mgr->joining->view, id);
	const struct member_peer_status *member;
	struct member_status status;

	mgr_group_get_status(mgr->group, &status);
	member = member_status_find(&status, id);
	if (member || named)
		snprintf(uri, ADDR_STRLEN, "%s",
			 member ? member->address : named->uri);
	return member || named ? 0 : -ENOENT;
}

static void on_timer(struct rpc_timer *timer)
{
	struct joining *j = container_of(timer, struct joining, timer);
	struct member_status status;

	rpc_timer_set(j->mgr->ctx, timer, clock_after_ms(TURN_MS));
	peers_reply_late(j->mgr->peers);
	mgr_group_get_status(j->mgr->group, &status);
	follow_members(j, &status);
	ask_if_due(j, &status);
}

/*
 * A member that its log has named has forgotten entries that it had confirmed, if the log is empty
 * now.  Its vote could make a manager lead that lacks them.
 */
static int check_log(const struct mgr *mgr)
{
	struct member_status status;

	mgr_group_get_status(mgr->group, &status);
	if (status.last || !was_named(mgr))
		return 0;
	log_error(mgr->log,
		  "storage %s has lost the log of its member (the files log.* "
		  "in the folder raft): remove this manager from the group "
		  "(pvfs-managers replace), and empty its storage",
		  mgr->conf.storage);
	return -EIO;
}

int joining_open(struct mgr *mgr)
{
	struct joining *j;
	int rc = check_log(mgr);

	if (rc)
		return rc;
	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	j->mgr = mgr;
	j->timer.fire = on_timer;
	j->joined = was_named(mgr);
	mgr->joining = j;
	rpc_timer_set(mgr->ctx, &j->timer, clock_now());
	return 0;
}

void joining_close(struct mgr *mgr)
{
	if (!mgr->joining)
		return;
	rpc_timer_clear(mgr->ctx, &mgr->joining->timer);
	manager_call_close(&mgr->joining->call);
	free(mgr->joining);
	mgr->joining = NULL;
}
