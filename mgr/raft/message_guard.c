/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_guard.c - drops messages that libraft must not get.  libraft trusts what it receives, and
 * Debian builds it without assertions.  A message that breaks an assumption then overwrites memory
 * instead of ending the process.
 */
#include <inttypes.h>

#include "mgr/raft/member_int.h"

#define NUMBER_MAX (1ull << 62) /* of terms and indexes */

static bool leads_in(struct raft_member *m, uint64_t term)
{
	return raft_state(&m->raft) == RAFT_LEADER &&
	       m->raft.current_term == term;
}

/* ---- AppendEntries ---- */

static const char *refuse_entry(const struct raft_entry *entry, uint64_t index)
{
	struct raft_configuration conf;
	uint32_t kind;

	if (entry->type == RAFT_COMMAND)
		return index == 1 || command_head_check(&entry->buf, index,
							entry->term, &kind)
			       ? "an entry is not that of its index"
			       : NULL;
	if (entry->type != RAFT_CHANGE)
		return "an entry has an unknown type";
	if (member_list_decode(entry->buf.base, entry->buf.len, &conf))
		return "an entry is not a list of members";
	raft_configuration_close(&conf);
	return NULL;
}

static const char *refuse_entries(const struct raft_append_entries *ae)
{
	uint64_t term = ae->prev_log_term;

	for (unsigned int i = 0; i < ae->n_entries; i++) {
		const struct raft_entry *entry = &ae->entries[i];
		const char *why;

		if (entry->buf.len > LOG_ENTRY_MAX)
			return "an entry is too large";
		if (!entry->term || entry->term < term ||
		    entry->term > ae->term)
			return "the terms of the entries do not ascend";
		term = entry->term;
		why = refuse_entry(entry, ae->prev_log_index + 1 + i);
		if (why)
			return why;
	}
	return NULL;
}

/* The first index where our log differs from the message; 0: none. */
static uint64_t first_conflict(const struct raft_member *m,
			       const struct raft_append_entries *ae)
{
	const struct log_index_entry *prev = log_index_get(&m->index,
							   ae->prev_log_index);

	if (prev && prev->term != ae->prev_log_term)
		return ae->prev_log_index;
	for (unsigned int i = 0; i < ae->n_entries; i++) {
		uint64_t index = ae->prev_log_index + 1 + i;
		const struct log_index_entry *have = log_index_get(&m->index,
								   index);

		if (have && have->term != ae->entries[i].term)
			return index;
	}
	return 0;
}

/*
 * If a change of the group is truncated, the previous members must be restored.  libraft 0.15 does
 * this only if its log still has the entry with these members, and never after a restart.  So the
 * member restarts: at its start it reads the members from its log.
 */
static bool truncates_change(const struct raft_member *m, uint64_t from)
{
	for (uint64_t i = from; i < log_index_next(&m->index); i++)
		if (log_index_get(&m->index, i)->type == RAFT_CHANGE)
			return true;
	return false;
}

static const char *refuse_conflict(struct raft_member *m,
				   const struct raft_append_entries *ae)
{
	uint64_t from = ae->term < m->raft.current_term ? 0
							: first_conflict(m, ae);

	if (!from)
		return NULL;
	if (from <= m->raft.commit_index) {
		member_fail(m,
			    "the leader's log differs at index %" PRIu64
			    ", which is committed: this member must be filled "
			    "again from the others",
			    from);
		return "it differs from what is committed";
	}
	if (from > ae->prev_log_index && truncates_change(m, from)) {
		if (!member_truncate(m, from))
			m->restart = true;
		return "it takes a change of the group back";
	}
	return NULL;
}

static const char *refuse_append(struct raft_member *m,
				 const struct raft_append_entries *ae)
{
	const char *why;

	if (!ae->term || ae->term > NUMBER_MAX ||
	    ae->prev_log_index > NUMBER_MAX || ae->leader_commit > NUMBER_MAX ||
	    ae->prev_log_term > ae->term ||
	    !ae->prev_log_index != !ae->prev_log_term)
		return "its numbers are impossible";
	if (leads_in(m, ae->term))
		return "this member leads in this term";
	/* libraft would add the first entries of the log again, after the last one. */
	if (!ae->prev_log_index && ae->n_entries && m->index.first > 1)
		return "its entries are older than the log";
	why = refuse_entries(ae);
	return why ? why : refuse_conflict(m, ae);
}

static const char *
refuse_append_result(struct raft_member *m, const struct peer_envelope *env,
		     const struct raft_append_entries_result *ar)
{
	if (ar->term > NUMBER_MAX || ar->rejected > NUMBER_MAX ||
	    ar->last_log_index > NUMBER_MAX)
		return "its numbers are impossible";
	if (raft_state(&m->raft) != RAFT_LEADER)
		return "this member does not lead";
	if (!member_list_find(&m->raft.configuration, env->from))
		return "it is not in the group";
	/* A message that was sent by a process before this one, or never. */
	if (ar->term == m->raft.current_term && env->stamp &&
	    (env->stamp < m->lead.lease.since || env->stamp > member_now(m)))
		return "it answers no message of this leader";
	return NULL;
}

/* ---- elections ---- */

static bool is_quiet(struct raft_member *m)
{
	return member_now(m) < m->quiet_until;
}

static const char *refuse_vote(struct raft_member *m,
			       const struct peer_envelope *env,
			       const struct raft_request_vote *rv)
{
	if (!rv->term || rv->term > NUMBER_MAX ||
	    rv->last_log_index > NUMBER_MAX || rv->last_log_term > rv->term ||
	    rv->candidate_id != env->from)
		return "its numbers are impossible";
	return is_quiet(m) ? "this member has just started" : NULL;
}

static const char *refuse_vote_result(struct raft_member *m,
				      const struct peer_envelope *env,
				      const struct raft_request_vote_result *vr)
{
	const struct raft_server *server =
		member_list_find(&m->raft.configuration, env->from);

	if (vr->term > NUMBER_MAX)
		return "its numbers are impossible";
	if (raft_state(&m->raft) != RAFT_CANDIDATE)
		return "this member is no candidate";
	if (!server || server->role != RAFT_VOTER)
		return "it has no vote";
	if (m->raft.candidate_state.in_pre_vote !=
	    (vr->pre_vote == raft_tribool_true))
		return "it answers an earlier question";
	return NULL;
}

static const char *refuse_timeout(struct raft_member *m,
				  const struct raft_timeout_now *tn)
{
	if (!tn->term || tn->term > NUMBER_MAX ||
	    tn->last_log_index > NUMBER_MAX || tn->last_log_term > tn->term)
		return "its numbers are impossible";
	/* A candidate counts only what it has stored. */
	if (m->raft.last_stored + 1 != log_index_next(&m->index))
		return "entries are on their way to the disk";
	if (!member_has_election_room(m))
		return "the log has no space for an election";
	return is_quiet(m) ? "this member has just started" : NULL;
}

/* ---- snapshots ---- */

static const char *refuse_snapshot(struct raft_member *m,
				   const struct raft_install_snapshot *is)
{
	if (!is->term || is->term > NUMBER_MAX || !is->last_index ||
	    is->last_index > NUMBER_MAX || !is->last_term ||
	    is->last_term > is->term || !is->conf_index ||
	    is->conf_index > is->last_index)
		return "its numbers are impossible";
	if (leads_in(m, is->term))
		return "this member leads in this term";
	if (m->put.req || m->raft.snapshot.pending.term)
		return "another snapshot is being stored";
	return NULL;
}

const char *message_refusal(struct raft_member *m,
			    const struct peer_envelope *env,
			    const struct raft_message *msg)
{
	if (env->group != m->attr.group || env->to != m->attr.id)
		return "it is for another member";
	if (!env->from || env->from == m->attr.id)
		return "its sender is impossible";
	switch (msg->type) {
	case RAFT_IO_APPEND_ENTRIES:
		return refuse_append(m, &msg->append_entries);
	case RAFT_IO_APPEND_ENTRIES_RESULT:
		return refuse_append_result(m, env,
					    &msg->append_entries_result);
	case RAFT_IO_REQUEST_VOTE:
		return refuse_vote(m, env, &msg->request_vote);
	case RAFT_IO_REQUEST_VOTE_RESULT:
		return refuse_vote_result(m, env, &msg->request_vote_result);
	case RAFT_IO_INSTALL_SNAPSHOT:
		return refuse_snapshot(m, &msg->install_snapshot);
	case RAFT_IO_TIMEOUT_NOW:
		return refuse_timeout(m, &msg->timeout_now);
	}
	return "its type is unknown";
}
