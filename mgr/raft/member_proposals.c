/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member_proposals.c - entries: from the proposal to apply().
 *
 * libraft checks for a majority only at the last entry that the leader has stored.  If the leader
 * stores new entries all the time, a majority may never have the last one.  So while proposals are
 * in flight, new ones wait, and are then submitted together.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/raft/member_int.h"

#define BATCH_BYTES (4u << 20)
#define BATCH_ENTRIES 1024u

/* ---- heads ---- */

static void command_head_fill(struct raft_buffer *buf, uint64_t index,
			      uint64_t term)
{
	struct command_head *head = buf->base;

	head->index = htole64(index);
	head->term = htole64(term);
}

int command_head_check(const struct raft_buffer *buf, uint64_t index,
		       uint64_t term, uint32_t *kind)
{
	struct command_head head;

	if (buf->len < sizeof(head))
		return -EINVAL;
	memcpy(&head, buf->base, sizeof(head));
	*kind = le32toh(head.kind);
	if (le64toh(head.index) != index || le64toh(head.term) != term ||
	    *kind < ENTRY_DATA || *kind > ENTRY_BARRIER || head.zero)
		return -EINVAL;
	return 0;
}

/* ---- proposing ---- */

static struct proposal *make_proposal(enum entry_kind kind, const void *data,
				      size_t len)
{
	struct proposal *new = calloc(1, sizeof(*new));
	struct command_head *head;

	if (!new)
		return NULL;
	new->buf.len = sizeof(*head) + len;
	new->buf.base = raft_malloc(new->buf.len);
	if (!new->buf.base) {
		free(new);
		return NULL;
	}
	head = new->buf.base;
	*head = (struct command_head){ .kind = htole32(kind) };
	if (len)
		memcpy(head + 1, data, len);
	return new;
}

static int check_room(struct raft_member *m, uint64_t space)
{
	uint64_t room = log_writer_room(m->writer);
	uint64_t needed = m->waiting_space + space + m->reserve;

	if (log_index_space(&m->index, 0) + m->waiting_space + space >
	    m->attr.log_limit)
		return -ENOSPC;
	if (needed <= room)
		return 0;
	return log_writer_is_full(m->writer) ? -ENOSPC : -EAGAIN;
}

static int add_proposal(struct raft_member *m, enum entry_kind kind,
			const void *data, size_t len, member_done done,
			void *arg)
{
	uint64_t space = entry_log_space(sizeof(struct command_head) + len);
	struct proposal *new;
	int rc;

	if (len > MEMBER_ENTRY_MAX || space + m->reserve > m->attr.segment_size)
		return -EMSGSIZE;
	if (m->dead || !m->lead.announced || m->lead.transfer)
		return -ENOTCONN;
	rc = check_room(m, space);
	if (rc)
		return rc;
	new = make_proposal(kind, data, len);
	if (!new)
		return -ENOMEM;
	new->done = done;
	new->arg = arg;
	STAILQ_INSERT_TAIL(&m->waiting, new, link);
	m->waiting_space += space;
	if (!m->depth && member_enter(m))
		member_leave(m);
	return 0;
}

int member_propose(struct raft_member *m, const void *data, size_t len,
		   member_done done, void *arg)
{
	return add_proposal(m, ENTRY_DATA, data, len, done, arg);
}

int member_barrier(struct raft_member *m, member_done done, void *arg)
{
	return add_proposal(m, ENTRY_BARRIER, NULL, 0, done, arg);
}

/* ---- to libraft ---- */

static void apply_finished(struct raft_apply *req, int status, void *result)
{
	struct raft_member *m = req->data;

	m->apply_busy = false;
}

/* Gives proposals that wait to libraft, as one batch: as many as its limits allow. */
static void submit_batch(struct raft_member *m)
{
	struct raft_buffer bufs[BATCH_ENTRIES];
	uint64_t index = raft_last_index(&m->raft) + 1;
	struct proposal *proposal;
	unsigned int n = 0;
	size_t bytes = 0;
	int rc;

	while ((proposal = STAILQ_FIRST(&m->waiting)) && n < BATCH_ENTRIES &&
	       (!n || bytes + proposal->buf.len <= BATCH_BYTES)) {
		STAILQ_REMOVE_HEAD(&m->waiting, link);
		STAILQ_INSERT_TAIL(&m->flying, proposal, link);
		m->waiting_space -= entry_log_space(proposal->buf.len);
		proposal->index = index + n;
		command_head_fill(&proposal->buf, index + n,
				  m->raft.current_term);
		bytes += proposal->buf.len;
		bufs[n++] = proposal->buf;
		proposal->buf.base = NULL;
	}
	if (!n)
		return;
	m->apply_busy = true;
	m->apply.data = m;
	rc = raft_apply(&m->raft, &m->apply, bufs, n, apply_finished);
	if (rc)
		member_fail(m, "cannot add to the raft log: %s",
			    raft_strerror(rc));
}

void member_submit_proposals(struct raft_member *m)
{
	if (raft_state(&m->raft) != RAFT_LEADER || m->apply_busy ||
	    !STAILQ_EMPTY(&m->flying) || m->raft.transfer)
		return;
	submit_batch(m);
}

/*
 * An election may write: the first entry, its truncation, and the record of a snapshot (at most two
 * blocks).
 */
bool member_has_election_room(struct raft_member *m)
{
	return log_writer_room(m->writer) >= 4 * entry_log_space(0);
}

/* Before any message of this term is handled. */
void member_begin_term(struct raft_member *m)
{
	struct proposal *first;

	if (m->raft.current_term <= m->led ||
	    m->raft.current_term == m->accepted.term) {
		member_want_restart(m, "its term would begin twice");
		return;
	}
	m->led = m->raft.current_term;
	first = make_proposal(ENTRY_TERM, NULL, 0);
	if (!first) {
		member_fail(m, "no memory for the raft log");
		return;
	}
	if (log_writer_room(m->writer) < entry_log_space(first->buf.len)) {
		raft_free(first->buf.base);
		free(first);
		member_fail(m, "the raft log is full: make space on the disk "
			       "of its folder");
		return;
	}
	m->lead.term = m->raft.current_term;
	m->lead.gained = m->lead.announced = false;
	m->lead.transfer = m->lead.transfer_started = false;
	m->lead.handed_over = false;
	m->lead.n_held = 0;
	/* libraft has already sent heartbeats of this term, in this turn. */
	lease_begin(&m->lead.lease, m->attr.election_ms, m->turn);
	m->waiting_space += entry_log_space(first->buf.len);
	STAILQ_INSERT_HEAD(&m->waiting, first, link);
	m->lead.index = raft_last_index(&m->raft) + 1;
	submit_batch(m);
}

/* ---- committed ---- */

static void entry_applied(struct raft_member *m, uint64_t index)
{
	struct proposal *proposal = STAILQ_FIRST(&m->flying);

	if (!proposal || proposal->index != index)
		return;
	STAILQ_REMOVE_HEAD(&m->flying, link);
	STAILQ_INSERT_TAIL(&m->done, proposal, link);
}

/* libraft tells neither index nor term of the entry; it counts last_applied up after each one. */
int member_apply(struct raft_fsm *fsm, const struct raft_buffer *buf,
		 void **result)
{
	struct raft_member *m = fsm->data;
	uint64_t index = m->raft.last_applied + 1;
	const struct log_index_entry *have = log_index_get(&m->index, index);
	struct member_entry entry = { .index = index };
	uint32_t kind;
	int rc = 0;

	if (m->dead)
		return RAFT_SHUTDOWN;
	if (!have || command_head_check(buf, index, have->term, &kind)) {
		member_fail(m, "entry %" PRIu64 " is not that of its index",
			    index);
		return RAFT_CORRUPT;
	}
	*result = NULL;
	entry.term = have->term;
	entry.data = (const uint8_t *)buf->base + sizeof(struct command_head);
	entry.len = buf->len - sizeof(struct command_head);
	entry.own = m->lead.term && entry.term == m->lead.term;
	if (kind == ENTRY_DATA && index > m->attr.applied)
		rc = m->attr.callbacks.apply(m->attr.callbacks.arg, &entry);
	if (rc) {
		member_fail(m, "cannot apply entry %" PRIu64 ": %s", index,
			    strerror(-rc));
		return RAFT_IOERR;
	}
	if (kind == ENTRY_TERM && entry.own)
		m->lead.gained = true;
	if (entry.own)
		entry_applied(m, index);
	return 0;
}

void member_complete_proposals(struct raft_member *m)
{
	struct proposal *proposal;

	while (!m->dead && (proposal = STAILQ_FIRST(&m->done))) {
		STAILQ_REMOVE_HEAD(&m->done, link);
		if (proposal->done)
			proposal->done(proposal->arg, 0);
		free(proposal);
	}
}

static void drop_list(struct proposals *list)
{
	struct proposal *proposal;

	while ((proposal = STAILQ_FIRST(list))) {
		STAILQ_REMOVE_HEAD(list, link);
		raft_free(proposal->buf.base);
		free(proposal);
	}
}

void member_drop_proposals(struct raft_member *m)
{
	drop_list(&m->waiting);
	drop_list(&m->flying);
	drop_list(&m->done);
	m->waiting_space = 0;
}
