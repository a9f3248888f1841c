/* SPDX-License-Identifier: BSD-2-Clause */
/* member_changes.c - adding and removing members, and handing the leadership over. */
#include <errno.h>
#include <string.h>

#include "common/util/clock.h"
#include "mgr/raft/member_int.h"

#define PROMOTION_LAG 1000u /* entries */

static int change_errno(int rc)
{
	switch (rc) {
	case 0:
		return 0;
	case RAFT_NOTLEADER:
	case RAFT_LEADERSHIPLOST:
		return -ENOTCONN;
	case RAFT_CANTCHANGE:
		return -EBUSY;
	case RAFT_DUPLICATEID:
	case RAFT_DUPLICATEADDRESS:
		return -EEXIST;
	case RAFT_BADID:
	case RAFT_NOTFOUND:
		return -ENOENT;
	case RAFT_NOCONNECTION:
		return -ETIMEDOUT;
	case RAFT_NOMEM:
		return -ENOMEM;
	}
	return -EINVAL;
}

static void change_finished(struct raft_change *req, int status)
{
	struct raft_member *m = req->data;

	m->change.finished = true;
	m->change.rc = change_errno(status);
}

/* 0: a change may begin. */
static int begin_change(struct raft_member *m, member_done done, void *arg)
{
	if (m->dead || !m->lead.announced || m->lead.transfer)
		return -ENOTCONN;
	if (m->change.busy)
		return -EBUSY;
	if (log_writer_room(m->writer) < m->reserve / 2)
		return -ENOSPC;
	m->change.busy = true;
	m->change.finished = false;
	m->change.req.data = m;
	m->change.done = done;
	m->change.arg = arg;
	return 0;
}

static int end_begin(struct raft_member *m, int rc)
{
	if (rc)
		m->change.busy = false;
	if (member_enter(m))
		member_leave(m);
	return change_errno(rc);
}

int member_add(struct raft_member *m, const struct member_address *new,
	       member_done done, void *arg)
{
	int rc;

	if (!new->id || m->raft.configuration.n >= MEMBERS_MAX ||
	    strlen(new->address) > MEMBER_ADDRESS_MAX || !new->address[0])
		return -EINVAL;
	rc = begin_change(m, done, arg);
	if (rc)
		return rc;
	return end_begin(m, raft_add(&m->raft, &m->change.req, new->id,
				     new->address, change_finished));
}

/*
 * A promotion blocks all other changes until it ends.  So it begins only when the member answers
 * and lacks only a few entries, all of which are still in the log.  It must have the change that
 * made it a standby: a member that does not know of itself cannot vote.
 */
static int check_promotion(struct raft_member *m, uint64_t id)
{
	const struct raft_configuration *conf = &m->raft.configuration;
	uint64_t next = log_index_next(&m->index), match;
	uint64_t silent = m->attr.election_ms * CLOCK_NS_PER_MS;
	unsigned int i = 0;

	while (i < conf->n && conf->servers[i].id != id)
		i++;
	if (i == conf->n)
		return -ENOENT;
	match = m->raft.leader_state.progress[i].match_index;
	if (lease_acked(&m->lead.lease, id) + silent <= member_now(m) ||
	    match < m->raft.configuration_index || match + 1 < m->index.first ||
	    match + 1 + PROMOTION_LAG < next)
		return -EAGAIN;
	return 0;
}

/* libraft sends nothing to a member that was just added, until it is a standby. */
static bool is_spare(struct raft_member *m, uint64_t id)
{
	const struct raft_server *server =
		member_list_find(&m->raft.configuration, id);

	return server && server->role == RAFT_SPARE;
}

static int assign_role(struct raft_member *m, uint64_t id, int role)
{
	return end_begin(m, raft_assign(&m->raft, &m->change.req, id, role,
					change_finished));
}

int member_promote(struct raft_member *m, uint64_t id, member_done done,
		   void *arg)
{
	bool spare = is_spare(m, id);
	int rc = begin_change(m, spare ? NULL : done, arg);

	if (rc)
		return rc;
	if (spare) {
		rc = assign_role(m, id, RAFT_STANDBY);
		return rc ? rc : -EAGAIN;
	}
	rc = check_promotion(m, id);
	if (!rc)
		return assign_role(m, id, RAFT_VOTER);
	m->change.busy = false;
	return rc;
}

/*
 * A leader must not remove itself.  It might lose the leadership before the others have this
 * change. libraft then does not let it stand for election, although an even number of voters needs
 * its vote.
 */
int member_remove(struct raft_member *m, uint64_t id, member_done done,
		  void *arg)
{
	int rc = id == m->attr.id ? -EINVAL : begin_change(m, done, arg);

	if (rc)
		return rc;
	return end_begin(m, raft_remove(&m->raft, &m->change.req, id,
					change_finished));
}

void member_finish_change(struct raft_member *m)
{
	if (!m->change.busy || !m->change.finished)
		return;
	m->change.finished = false;
	m->change.busy = false;
	if (m->change.done)
		m->change.done(m->change.arg, m->change.rc);
}

/* ---- handing over ---- */

static void transfer_finished(struct raft_transfer *req)
{
	struct raft_member *m = req->data;

	m->lead.handed_over = true;
}

/*
 * A late TimeoutNow may make another member stand for election at any later time in this term, and
 * all others vote for it, regardless of the lease.  So this leader has no lease for the rest of the
 * term.
 */
int member_transfer(struct raft_member *m, uint64_t to)
{
	const struct raft_server *server =
		member_list_find(&m->raft.configuration, to);

	if (m->dead || !m->lead.announced || m->lead.transfer)
		return -ENOTCONN;
	if (m->change.busy)
		return -EBUSY;
	if (to && (!server || server->role != RAFT_VOTER || to == m->attr.id))
		return -ENOENT;
	if (!to && member_list_voters(&m->raft.configuration) < 2)
		return -ENOENT;
	m->lead.transfer = true;
	m->lead.transfer_to = to;
	if (!m->depth && member_enter(m))
		member_leave(m);
	return 0;
}

/* Once all proposals are committed. */
void member_start_transfer(struct raft_member *m)
{
	int rc;

	if (!m->lead.term || !m->lead.transfer || m->lead.transfer_started ||
	    !STAILQ_EMPTY(&m->waiting) || !STAILQ_EMPTY(&m->flying) ||
	    m->apply_busy)
		return;
	m->lead.transfer_started = true;
	m->transfer.data = m;
	rc = raft_transfer(&m->raft, &m->transfer, m->lead.transfer_to,
			   transfer_finished);
	if (rc)
		m->lead.handed_over = true;
}
