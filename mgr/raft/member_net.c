/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member_net.c - the part of struct raft_io for messages.  It also corrects messages in which
 * libraft has errors (docs/managers.md has the reasons).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/raft/member_int.h"

/* Entries of one message; a larger AppendEntries of libraft is several messages. */
#define PIECE_BYTES (1u << 20)
#define PIECES_BYTES (8u << 20) /* the member that lags asks for the rest */

/* ---- sending ---- */

static int send_message(struct raft_member *m, const struct raft_message *msg,
			uint64_t stamp)
{
	struct peer_envelope env = { .group = m->attr.group,
				     .from = m->attr.id,
				     .to = msg->server_id,
				     .stamp = stamp };
	void *data;
	size_t len;
	int rc = peer_message_encode(&env, msg, &data, &len);

	if (rc)
		return rc;
	rc = m->attr.peers.send(m->attr.peers.arg, env.to, data, len);
	free(data);
	return rc;
}

/* The number of entries from `from` on that fit into one message: at least one. */
static unsigned int piece_length(const struct raft_append_entries *ae,
				 unsigned int from, size_t *bytes)
{
	unsigned int n = 0;
	size_t sum = 0;

	while (from + n < ae->n_entries && n < PEER_ENTRIES_MAX) {
		size_t len = ae->entries[from + n].buf.len;

		if (n && sum + len > PIECE_BYTES)
			break;
		sum += len;
		n++;
	}
	*bytes += sum;
	return n;
}

/*
 * A follower may apply entries up to leader_commit only as far as this message has compared its log
 * with the leader's.  libraft assumes that every message reaches the end of the leader's log.
 */
static void clamp_commit(struct raft_append_entries *ae)
{
	uint64_t end = ae->prev_log_index + ae->n_entries;

	if (ae->leader_commit > end)
		ae->leader_commit = end;
}

static int send_entries(struct raft_member *m, const struct raft_message *msg)
{
	const struct raft_append_entries *all = &msg->append_entries;
	struct raft_message piece = *msg;
	struct raft_append_entries *ae = &piece.append_entries;
	unsigned int from = 0;
	size_t bytes = 0;
	int rc;

	do {
		ae->n_entries = piece_length(all, from, &bytes);
		ae->entries = all->entries + from;
		ae->leader_commit = all->leader_commit;
		clamp_commit(ae);
		rc = send_message(m, &piece, member_now(m));
		if (rc || !ae->n_entries)
			break;
		from += ae->n_entries;
		ae->prev_log_index += ae->n_entries;
		ae->prev_log_term = all->entries[from - 1].term;
	} while (from < all->n_entries && bytes < PIECES_BYTES);
	return rc;
}

/*
 * libraft puts the end of the follower's log into a result.  But the log may end with entries of an
 * earlier leader that were not compared.  So the result is limited to the verified part.
 */
static int send_result(struct raft_member *m, const struct raft_message *msg)
{
	struct raft_message copy = *msg;
	struct raft_append_entries_result *result = &copy.append_entries_result;
	bool in_term = result->term == m->accepted.term;

	if (!result->rejected) {
		if (in_term && m->accepted.handling > m->accepted.verified)
			m->accepted.verified = m->accepted.handling;
		if (!in_term)
			result->last_log_index = 0;
		else if (result->last_log_index > m->accepted.verified)
			result->last_log_index = m->accepted.verified;
	}
	return send_message(m, &copy, in_term ? m->accepted.stamp : 0);
}

/*
 * libraft rejects a pre-vote with the candidate's own term.  A candidate that has more entries but
 * a lower term then never learns of the higher term, and is never elected.
 */
static int send_vote_result(struct raft_member *m,
			    const struct raft_message *msg)
{
	struct raft_message copy = *msg;
	struct raft_request_vote_result *result = &copy.request_vote_result;

	if (!result->vote_granted && result->term < m->raft.current_term)
		result->term = m->raft.current_term;
	return send_message(m, &copy, 0);
}

static void send_timeout(struct raft_member *m, const struct raft_message *msg)
{
	m->lead.timeout_now = *msg;
	m->lead.timeout_now.server_address = NULL; /* libraft frees it */
	send_message(m, msg, 0);
}

void member_repeat_timeout(struct raft_member *m)
{
	const struct raft_message *msg = &m->lead.timeout_now;

	if (m->raft.transfer && m->lead.term &&
	    msg->timeout_now.term == m->lead.term)
		send_message(m, msg, 0);
}

/*
 * Never fails, and neither does the callback: a message that was not sent counts as lost.  If this
 * function fails for a result, libraft frees the entries of the message twice.  If the callback
 * reports a failure, libraft goes back to the last entry that the follower has confirmed in this
 * term.  A follower that was down since the election has confirmed none, and would get a snapshot.
 */
static int io_send(struct raft_io *io, struct raft_io_send *req,
		   const struct raft_message *msg, raft_io_send_cb cb)
{
	struct raft_member *m = io->impl;
	struct send_request *sent = calloc(1, sizeof(*sent));

	if (!sent) {
		member_fail(m, "no memory for a message");
		return 0;
	}
	if (msg->type == RAFT_IO_APPEND_ENTRIES)
		send_entries(m, msg);
	else if (msg->type == RAFT_IO_APPEND_ENTRIES_RESULT)
		send_result(m, msg);
	else if (msg->type == RAFT_IO_REQUEST_VOTE_RESULT)
		send_vote_result(m, msg);
	else if (msg->type == RAFT_IO_TIMEOUT_NOW)
		send_timeout(m, msg);
	else
		send_message(m, msg, 0);
	/* libraft uses the request after this function has returned. */
	sent->req = req;
	sent->cb = cb;
	STAILQ_INSERT_TAIL(&m->sent, sent, link);
	return 0;
}

void member_complete_sends(struct raft_member *m)
{
	struct send_request *sent;

	while ((sent = STAILQ_FIRST(&m->sent))) {
		STAILQ_REMOVE_HEAD(&m->sent, link);
		if (sent->cb)
			sent->cb(sent->req, 0);
		free(sent);
	}
}

void member_net_io(struct raft_io *io)
{
	io->send = io_send;
}

/* ---- receiving ---- */

/* Keeps the first n entries. */
static void trim_entries(struct raft_append_entries *ae, unsigned int n)
{
	if (n == ae->n_entries)
		return;
	ae->n_entries = n;
	if (!n) {
		raft_free(ae->entries[0].batch);
		raft_free(ae->entries);
		ae->entries = NULL;
	}
}

/* Takes only as many new entries as certainly fit on the disk and into memory. */
static void fit_entries(struct raft_member *m, struct raft_append_entries *ae)
{
	uint64_t room = log_writer_room(m->writer);
	uint64_t used = log_index_space(&m->index, 0);
	uint64_t limit = m->attr.log_limit;
	uint64_t memory = limit > used ? limit - used : 0;
	unsigned int n;

	room = room > m->reserve ? room - m->reserve : 0;
	room = room < memory ? room : memory;
	for (n = 0; n < ae->n_entries; n++) {
		const struct log_index_entry *have =
			log_index_get(&m->index, ae->prev_log_index + 1 + n);
		uint64_t space = entry_log_space(ae->entries[n].buf.len);

		if (have && have->term == ae->entries[n].term)
			continue;
		if (space > room)
			break;
		room -= space;
	}
	trim_entries(ae, n);
}

/* Whether libraft has all of these entries already, stored or on the way to the disk. */
static bool brings_nothing(const struct raft_member *m,
			   const struct raft_append_entries *ae)
{
	return ae->prev_log_index + ae->n_entries < log_index_next(&m->index);
}

static void adjust_append(struct raft_member *m,
			  const struct peer_envelope *env,
			  struct raft_append_entries *ae)
{
	fit_entries(m, ae);
	clamp_commit(ae);
	/* Nothing is applied before it is in the log of this member. */
	if (brings_nothing(m, ae) && ae->leader_commit > m->raft.last_stored)
		ae->leader_commit = m->raft.last_stored;
	if (ae->term < m->raft.current_term)
		return;
	if (ae->term != m->accepted.term) {
		m->accepted.term = ae->term;
		m->accepted.stamp = 0;
		m->accepted.verified = 0;
	}
	if (env->stamp > m->accepted.stamp)
		m->accepted.stamp = env->stamp;
	m->accepted.handling = ae->prev_log_index + ae->n_entries;
}

static void adjust_snapshot(struct raft_member *m,
			    const struct raft_install_snapshot *is)
{
	if (is->term < m->raft.current_term)
		return;
	if (is->term != m->accepted.term) {
		m->accepted.term = is->term;
		m->accepted.stamp = 0;
		m->accepted.verified = 0;
	}
	m->accepted.handling = is->last_index;
}

static void hand_over(struct raft_member *m, struct raft_message *msg)
{
	char address[24];

	snprintf(address, sizeof(address), "%llu", msg->server_id);
	msg->server_address = address;
	m->recv(&m->io, msg);
	m->accepted.handling = 0;
}

static struct raft_server *find_self(const struct raft_member *m)
{
	return member_list_find(&m->raft.configuration, m->attr.id);
}

/* A voter that hears nothing from its leader becomes a candidate.  Other members keep the leader. */
static void forget_silent_leader(struct raft_member *m)
{
	struct raft *r = &m->raft;

	if (raft_state(r) != RAFT_FOLLOWER ||
	    !r->follower_state.current_leader.id ||
	    r->io->time(r->io) - r->election_timer_start < r->election_timeout)
		return;
	raft_free(r->follower_state.current_leader.address);
	r->follower_state.current_leader.address = NULL;
	r->follower_state.current_leader.id = 0;
}

/*
 * The others can promote this member while it is silent, and may then need its vote to elect a
 * leader.  libraft does not let a member vote before its own log has the promotion.  A vote is safe
 * in any case: the candidate counts only the voters of its own log (Raft thesis, section 4.2.2).
 */
static void hand_over_vote_request(struct raft_member *m,
				   struct raft_message *msg)
{
	struct raft_server *self = find_self(m);
	int role;

	if (!self || self->role == RAFT_VOTER) {
		hand_over(m, msg);
		return;
	}
	forget_silent_leader(m);
	role = self->role;
	self->role = RAFT_VOTER;
	hand_over(m, msg);
	self = find_self(m);
	if (self)
		self->role = role;
}

/*
 * libraft takes an entry of an earlier term as committed if a majority has it, which is not safe
 * (section 5.4.2 of the Raft paper).  So results are held until the first entry of the leader's own
 * term is stored.
 */
static bool must_be_held(const struct raft_member *m,
			 const struct raft_message *msg)
{
	return msg->type == RAFT_IO_APPEND_ENTRIES_RESULT &&
	       raft_state((struct raft *)&m->raft) == RAFT_LEADER &&
	       m->lead.term == m->raft.current_term &&
	       msg->append_entries_result.term == m->lead.term &&
	       !msg->append_entries_result.rejected &&
	       m->raft.last_stored < m->lead.index;
}

void member_deliver(struct raft_member *m, const struct peer_envelope *env,
		    struct raft_message *msg)
{
	const char *why = message_refusal(m, env, msg);

	if (why || m->dead) {
		log_debug(m->attr.log,
			  "a message of member %016llx is dropped: %s",
			  msg->server_id, why ? why : "the member failed");
		peer_message_free(msg);
		return;
	}
	if (msg->type == RAFT_IO_APPEND_ENTRIES_RESULT && m->lead.term &&
	    msg->append_entries_result.term == m->lead.term)
		lease_ack(&m->lead.lease, env->from, env->stamp, member_now(m));
	if (must_be_held(m, msg)) {
		if (m->lead.n_held < HELD_MAX)
			m->lead.held[m->lead.n_held++] = *msg;
		return;
	}
	if (msg->type == RAFT_IO_APPEND_ENTRIES)
		adjust_append(m, env, &msg->append_entries);
	else if (msg->type == RAFT_IO_INSTALL_SNAPSHOT)
		adjust_snapshot(m, &msg->install_snapshot);
	if (msg->type == RAFT_IO_REQUEST_VOTE)
		hand_over_vote_request(m, msg);
	else
		hand_over(m, msg);
}

void member_deliver_held(struct raft_member *m)
{
	while (m->lead.n_held && m->lead.term &&
	       m->raft.last_stored >= m->lead.index) {
		struct raft_message msg = m->lead.held[--m->lead.n_held];

		if (raft_state(&m->raft) == RAFT_LEADER)
			hand_over(m, &msg);
	}
}
