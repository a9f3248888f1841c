/* SPDX-License-Identifier: BSD-2-Clause */
/* member.c - the life of a member; see member.h. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "mgr/raft/member_int.h"

/* A member that gets a vote lacks few entries.  Other changes of the group wait for it. */
#define CATCH_UP_MS 2000u
#define CATCH_UP_ROUNDS 50u

/* For 60 elections without space for more entries. */
#define RESERVE_BLOCKS 64u

/* Between two attempts to make a segment while the disk is full. */
#define FULL_RETRY (1000 * CLOCK_NS_PER_MS)

/* ---- what follows a call of libraft ---- */

static void lose_term(struct raft_member *m, const char *why)
{
	bool announced = m->lead.announced;

	m->lead.term = 0;
	m->lead.n_held = 0;
	member_drop_proposals(m);
	if (!announced)
		return;
	m->dead = true;
	m->attr.callbacks.leader_lost(m->attr.callbacks.arg, why);
}

static void follow_role(struct raft_member *m)
{
	bool leads = raft_state(&m->raft) == RAFT_LEADER;

	if (raft_state(&m->raft) == RAFT_UNAVAILABLE && !m->stopping) {
		member_fail(m, "libraft stopped: %s", raft_errmsg(&m->raft));
		return;
	}
	if (m->lead.term && (!leads || m->raft.current_term != m->lead.term))
		lose_term(m, m->lead.transfer
				     ? "it was handed to another member"
				     : "no majority of the members answers, or "
				       "another one was elected");
	if (m->lead.term && m->lead.handed_over)
		lose_term(m, "it could not be handed to another member");
	if (leads && !m->lead.term && !m->dead)
		member_begin_term(m);
}

static void announce_leader(struct raft_member *m)
{
	if (!m->lead.term || !m->lead.gained || m->lead.announced)
		return;
	m->lead.announced = true;
	m->attr.callbacks.leader_gained(m->attr.callbacks.arg, m->lead.term);
}

/*
 * Carries out what libraft has decided.  Each call of libraft may lead to further decisions, so
 * there are several rounds, and each step finishes earlier decisions first.  Callbacks may propose
 * entries, which only adds these to a queue.
 */
static void follow_libraft(struct raft_member *m)
{
	for (int round = 0; round < 3 && !m->dead; round++) {
		if (m->restart && !log_writer_is_busy(m->writer))
			member_want_restart(
				m, "a change of the group was taken back");
		else
			follow_role(m);
		if (!m->dead)
			member_deliver_held(m);
		if (!m->dead)
			announce_leader(m);
		if (!m->dead)
			member_complete_proposals(m);
		if (!m->dead)
			member_submit_proposals(m);
		if (!m->dead)
			member_start_transfer(m);
		if (!m->dead)
			member_finish_change(m);
		if (!m->dead)
			member_answer_snapshots(m);
		member_complete_sends(m);
	}
	member_aim_snapshot(m);
}

/* ---- start and stop ---- */

static int member_io_init(struct raft_io *io, raft_id id, const char *address)
{
	return 0;
}

static int member_io_start(struct raft_io *io, unsigned int msecs,
			   raft_io_tick_cb tick, raft_io_recv_cb recv)
{
	struct raft_member *m = io->impl;

	m->tick = tick;
	m->recv = recv;
	return 0;
}

/* libraft has failed its own requests.  Those that it waits for fail now. */
static void member_io_close(struct raft_io *io, raft_io_close_cb cb)
{
	struct raft_member *m = io->impl;

	member_complete_sends(m);
	member_answer_snapshots(m);
	member_cancel_snapshot(m);
	cb(io);
}

static raft_time member_io_time(struct raft_io *io)
{
	return member_now(io->impl) / CLOCK_NS_PER_MS;
}

static int member_io_random(struct raft_io *io, int min, int max)
{
	struct raft_member *m = io->impl;

	return m->attr.clock.random(m->attr.clock.arg, min, max);
}

static int member_io_refuse(struct raft_io *io,
			    const struct raft_configuration *conf)
{
	return RAFT_INVALID;
}

static int init_raft(struct raft_member *m)
{
	struct raft_io *io = &m->io;
	char address[24];
	int rc;

	*io = (struct raft_io){ .version = 1,
				.impl = m,
				.init = member_io_init,
				.close = member_io_close,
				.start = member_io_start,
				.bootstrap = member_io_refuse,
				.recover = member_io_refuse,
				.time = member_io_time,
				.random = member_io_random };
	m->fsm = (struct raft_fsm){ .version = 1,
				    .data = m,
				    .apply = member_apply };
	member_disk_io(io);
	member_net_io(io);
	member_snapshot_io(io, &m->fsm);
	snprintf(address, sizeof(address), "%" PRIu64, m->attr.id);
	rc = raft_init(&m->raft, io, &m->fsm, m->attr.id, address);
	if (rc)
		return -ENOMEM;
	raft_set_election_timeout(&m->raft, m->attr.election_ms);
	raft_set_heartbeat_timeout(&m->raft, m->attr.heartbeat_ms);
	raft_set_pre_vote(&m->raft, true);
	raft_set_snapshot_threshold(&m->raft, UINT_MAX);
	/* The reference may get lost.  A member that is being filled drops the next one. */
	raft_set_install_snapshot_timeout(&m->raft, 2 * m->attr.election_ms);
	raft_set_max_catch_up_rounds(&m->raft, CATCH_UP_ROUNDS);
	raft_set_max_catch_up_round_duration(&m->raft, CATCH_UP_MS);
	return 0;
}

static int start_raft(struct raft_member *m)
{
	int rc = raft_start(&m->raft);

	log_contents_free(&m->loaded);
	if (rc) {
		log_error(m->attr.log, "cannot start libraft: %s: %s",
			  raft_strerror(rc), raft_errmsg(&m->raft));
		return rc == RAFT_NOMEM ? -ENOMEM : -EIO;
	}
	return 0;
}

static void ignore_close(struct raft *r)
{
}

/* Records that are being written point into the log of libraft. */
static void stop_thread(struct raft_member *m)
{
	if (m->thread)
		log_thread_stop(m->thread);
	m->thread = NULL;
}

/* No thread works. */
static void free_member(struct raft_member *m)
{
	struct send_request *sent;
	struct snapshot_request *got;

	member_drop_proposals(m);
	while ((sent = STAILQ_FIRST(&m->sent))) {
		STAILQ_REMOVE_HEAD(&m->sent, link);
		free(sent);
	}
	while ((got = STAILQ_FIRST(&m->got))) {
		STAILQ_REMOVE_HEAD(&m->got, link);
		free(got);
	}
	member_close_files(m);
	free(m->put.data);
	free(m);
}

static uint64_t log_reserve(uint32_t segment_size)
{
	uint64_t reserve = RESERVE_BLOCKS * entry_log_space(0);

	if (reserve < segment_size / 32)
		reserve = segment_size / 32;
	return reserve < segment_size / 4 ? reserve : segment_size / 4;
}

int member_start(const struct member_attr *attr, struct raft_member **m)
{
	struct raft_member *new = calloc(1, sizeof(*new));
	int rc;

	if (!new)
		return -ENOMEM;
	new->attr = *attr;
	new->follow = follow_libraft;
	if (!new->attr.segment_size)
		new->attr.segment_size = ENTRY_LOG_SEGMENT;
	new->reserve = log_reserve(new->attr.segment_size);
	STAILQ_INIT(&new->waiting);
	STAILQ_INIT(&new->flying);
	STAILQ_INIT(&new->done);
	STAILQ_INIT(&new->sent);
	STAILQ_INIT(&new->got);
	rc = init_raft(new);
	if (rc) {
		free(new);
		return rc;
	}
	rc = member_open_files(new);
	if (!rc) {
		new->quiet_until = member_now(new) +
				   new->attr.election_ms *CLOCK_NS_PER_MS;
		rc = start_raft(new);
	}
	if (rc) {
		stop_thread(new);
		raft_close(&new->raft, ignore_close);
		free_member(new);
		return rc;
	}
	*m = new;
	member_enter(new);
	member_leave(new);
	return 0;
}

void member_stop(struct raft_member *m)
{
	m->stopping = true;
	m->depth++;
	stop_thread(m);
	while (log_writer_is_busy(m->writer)) {
		log_writer_work(m->writer);
		if (log_writer_collect(m->writer))
			break;
		member_complete_sends(m);
	}
	raft_close(&m->raft, ignore_close);
	free_member(m);
}

void member_abandon(struct raft_member *m)
{
	stop_thread(m);
	free_member(m);
}

/* ---- events ---- */

bool member_receive(struct raft_member *m, const void *data, size_t len)
{
	struct peer_envelope env;
	struct raft_message msg;
	int rc;

	if (m->restart || !member_enter(m))
		return false;
	m->accepted.storing = false;
	rc = peer_message_decode(data, len, &env, &msg);
	if (!rc)
		member_deliver(m, &env, &msg);
	else
		log_warn(m->attr.log, "a message of a member is dropped: %s",
			 strerror(-rc));
	member_leave(m);
	return m->accepted.storing && !m->dead;
}

static void retry_when_full(struct raft_member *m)
{
	uint64_t now = member_now(m);

	if (!log_writer_is_full(m->writer) || now < m->retry_at)
		return;
	m->retry_at = now + FULL_RETRY;
	member_wake_writer(m);
}

/* libraft's tick of a member that does not lead only begins elections. */
static bool ticks_now(struct raft_member *m)
{
	/* A member that is being filled knows less than it says: it must not be elected. */
	if (m->put.req && m->put.install)
		return false;
	return raft_state(&m->raft) == RAFT_LEADER ||
	       member_has_election_room(m);
}

void member_tick(struct raft_member *m)
{
	if (m->restart || !member_enter(m))
		return;
	if (ticks_now(m))
		m->tick(&m->io);
	member_repeat_timeout(m);
	member_repeat_checkpoint(m);
	retry_when_full(m);
	member_leave(m);
}

void member_collect(struct raft_member *m)
{
	int rc;

	if (!member_enter(m))
		return;
	rc = log_writer_collect(m->writer);
	if (rc)
		member_fail(m, "cannot write the raft log: %s", strerror(-rc));
	member_leave(m);
}

void member_write_log(struct raft_member *m)
{
	log_writer_work(m->writer);
}

/* ---- status ---- */

/* This member leads. */
static bool is_recent(const struct raft_member *m, uint64_t id)
{
	return id == m->attr.id ||
	       lease_acked(&m->lead.lease, id) +
			       m->attr.election_ms * CLOCK_NS_PER_MS >
		       member_now(m);
}

bool member_lease_valid(struct raft_member *m)
{
	uint64_t now = member_now(m);

	if (m->dead || !m->lead.announced || m->lead.transfer ||
	    raft_state(&m->raft) != RAFT_LEADER ||
	    m->raft.current_term != m->lead.term)
		return false;
	return now < lease_end(&m->lead.lease, &m->raft.configuration,
			       m->attr.id, now);
}

static void get_peers(struct raft_member *m, struct member_status *status)
{
	const struct raft_configuration *conf = &m->raft.configuration;
	bool leads = raft_state(&m->raft) == RAFT_LEADER;

	for (unsigned int i = 0; i < conf->n && i < MEMBERS_MAX; i++) {
		const struct raft_server *server = &conf->servers[i];
		uint64_t match =
			leads ? m->raft.leader_state.progress[i].match_index
			      : 0;

		status->peers[status->n++] = (struct member_peer_status){
			.id = server->id,
			.address = server->address,
			.voter = server->role == RAFT_VOTER,
			.lag = leads && status->last > match
				       ? status->last - match
				       : 0,
			.recent = leads && is_recent(m, server->id),
		};
	}
}

const struct member_peer_status *
member_status_find(const struct member_status *status, uint64_t id)
{
	for (unsigned int i = 0; i < status->n; i++)
		if (status->peers[i].id == id)
			return &status->peers[i];
	return NULL;
}

void member_get_status(struct raft_member *m, struct member_status *status)
{
	int state = raft_state(&m->raft);
	raft_id leader;
	const char *address;

	raft_leader(&m->raft, &leader, &address);
	*status = (struct member_status){
		.role = state == RAFT_LEADER	  ? MEMBER_LEADER
			: state == RAFT_CANDIDATE ? MEMBER_CANDIDATE
						  : MEMBER_FOLLOWER,
		.term = m->raft.current_term,
		.leader = leader,
		.lease = member_lease_valid(m),
		.first = m->index.first,
		.last = log_index_next(&m->index) - 1,
		.stored = m->raft.last_stored,
		.committed = m->raft.commit_index,
		.applied = m->raft.last_applied,
		.snapshot = m->snapshot.index,
		.log_bytes = log_writer_size(m->writer),
		.log_limit = m->attr.log_limit,
		.log_full = log_writer_is_full(m->writer),
		.has_reserve = log_writer_room(m->writer) >= m->reserve / 2,
	};
	get_peers(m, status);
}
