/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member_snapshot.c - snapshots.  For libraft, a snapshot contains the state of the state machine.
 * Here it is only a record in the log: "the state machine durably has all entries up to here".
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/raft/member_int.h"

/*
 * While another member is filled, the leader keeps at most 1/FILLS_KEEP of log_limit of entries for
 * it.  The log then stays below half of the limit, even if that member is never filled.  So
 * libraft, which takes snapshots only when it applies an entry, can always take one.
 */
#define FILLS_KEEP 4u

/* ---- the record: the index of the newest change of the group, and the members ---- */

int member_snapshot_encode(const struct raft_configuration *conf,
			   uint64_t conf_index, void **data, uint32_t *len)
{
	uint64_t word = htole64(conf_index);
	struct raft_buffer buf;
	uint8_t *bytes;

	if (member_list_encode(conf, &buf))
		return -ENOMEM;
	bytes = malloc(8 + buf.len);
	if (bytes) {
		memcpy(bytes, &word, 8);
		memcpy(bytes + 8, buf.base, buf.len);
		*data = bytes;
		*len = (uint32_t)(8 + buf.len);
	}
	raft_free(buf.base);
	return bytes ? 0 : -ENOMEM;
}

int member_snapshot_decode(struct raft_member *m, uint64_t index, uint64_t term,
			   const void *data, size_t len)
{
	struct raft_configuration conf;
	uint64_t word;
	int rc;

	if (len < 8)
		return -EIO;
	memcpy(&word, data, 8);
	rc = member_list_decode((const uint8_t *)data + 8, len - 8, &conf);
	if (rc)
		return rc == -ENOMEM ? rc : -EIO;
	raft_configuration_close(&m->snapshot.conf);
	m->snapshot.conf = conf;
	m->snapshot.conf_index = le64toh(word);
	m->snapshot.index = index;
	m->snapshot.term = term;
	return 0;
}

/* ---- storing ---- */

static void put_stored(struct log_job *job)
{
	struct raft_member *m =
		(struct raft_member *)((char *)job -
				       offsetof(struct raft_member, put.job));
	struct raft_io_snapshot_put *req = m->put.req;
	int rc = member_snapshot_decode(m, m->put.index, m->put.term,
					m->put.data, m->put.len);

	free(m->put.data);
	m->put.data = NULL;
	m->put.req = NULL;
	if (rc) {
		member_fail(m, "no memory for a snapshot");
		return;
	}
	log_index_cut(&m->index, m->put.keep);
	if (m->put.install && m->put.index > m->accepted.verified)
		m->accepted.verified = m->put.index;
	m->put.cb(req, 0);
}

static void store_put(struct raft_member *m)
{
	m->put.record = (struct log_record){
		.kind = m->put.install ? LOG_RESET : LOG_SNAPSHOT,
		.index = m->put.index,
		.term = m->put.term,
		.data = m->put.data,
		.len = m->put.len,
	};
	m->put.job = (struct log_job){ .records = &m->put.record,
				       .n = 1,
				       .cut = m->put.keep,
				       .done = put_stored };
	log_writer_submit(m->writer, &m->put.job);
}

static int io_snapshot_put(struct raft_io *io, unsigned int trailing,
			   struct raft_io_snapshot_put *req,
			   const struct raft_snapshot *snapshot,
			   raft_io_snapshot_put_cb cb)
{
	struct raft_member *m = io->impl;
	bool install = m->raft.snapshot.pending.term == 0;
	uint64_t keep = snapshot->index + 1;

	if (member_snapshot_encode(&snapshot->configuration,
				   snapshot->configuration_index, &m->put.data,
				   &m->put.len))
		return RAFT_NOMEM;
	if (!install)
		keep = keep > trailing ? keep - trailing : 1;
	m->put.req = req;
	m->put.cb = cb;
	m->put.install = install;
	m->put.bufs = install ? snapshot->bufs : NULL;
	m->put.index = snapshot->index;
	m->put.term = snapshot->term;
	m->put.keep = keep;
	m->put.failed = false;
	m->put.job.n = 0;
	/* libraft has forgotten its entries already. */
	if (install) {
		log_index_truncate(&m->index, m->index.first);
		log_index_cut(&m->index, keep);
	}
	if (install)
		m->attr.callbacks.fill(m->attr.callbacks.arg,
				       m->raft.follower_state.current_leader.id,
				       snapshot->index, snapshot->term);
	else
		m->attr.callbacks.checkpoint(m->attr.callbacks.arg,
					     snapshot->index, snapshot->term);
	return 0;
}

void member_cancel_snapshot(struct raft_member *m)
{
	struct raft_io_snapshot_put *req = m->put.req;
	struct raft_buffer *bufs = m->put.bufs;

	if (!req)
		return;
	m->put.req = NULL;
	m->put.cb(req, RAFT_CANCELED);
	raft_free(bufs); /* libraft frees all but this */
}

void member_checkpointed(struct raft_member *m, int rc)
{
	if (!member_enter(m))
		return;
	if (m->put.req && !m->put.install && !m->put.job.n) {
		m->put.failed = rc;
		if (!rc)
			store_put(m);
	}
	member_leave(m);
}

/* libraft would wait for the next entry, which a full log may never get. */
void member_repeat_checkpoint(struct raft_member *m)
{
	if (!m->put.req || !m->put.failed)
		return;
	m->put.failed = false;
	m->attr.callbacks.checkpoint(m->attr.callbacks.arg, m->put.index,
				     m->put.term);
}

void member_filled(struct raft_member *m, int rc, uint64_t applied)
{
	if (!member_enter(m))
		return;
	if (m->put.req && m->put.install && !m->put.job.n) {
		/* libraft has already forgotten the entries that it had. */
		if (rc)
			member_fail(m, "cannot fill this member: %s",
				    strerror(-rc));
		else if (applied < m->put.index)
			member_fail(m,
				    "this member was filled only up to "
				    "entry %" PRIu64,
				    applied);
		else
			store_put(m);
		/* The state that it had before may have been a newer one. */
		m->attr.applied = applied;
	}
	member_leave(m);
}

/* ---- when ---- */

/*
 * Whether a member is being filled. Such a member will need the log entries after its snapshot.
 * libraft may forget that it has sent a snapshot, so a member that has been made a standby counts
 * until it has a vote.
 */
static bool fills_member(const struct raft_member *m)
{
	const struct raft_configuration *conf = &m->raft.configuration;

	if (raft_state((struct raft *)&m->raft) != RAFT_LEADER)
		return false;
	for (unsigned int i = 0; i < conf->n; i++)
		if (conf->servers[i].role == RAFT_STANDBY ||
		    m->raft.leader_state.progress[i].snapshot_index)
			return true;
	return false;
}

void member_aim_snapshot(struct raft_member *m)
{
	const struct log_index *ix = &m->index;
	bool fills = fills_member(m);
	uint64_t kept = fills ? m->attr.log_limit / FILLS_KEEP
			      : m->attr.trailing_bytes;
	uint64_t trailing = log_index_next(ix) - log_index_find(ix, kept);
	bool late = log_index_space(ix, m->snapshot.index + 1) >=
		    m->attr.checkpoint_bytes;

	if (fills && log_index_space(ix, 0) < kept)
		late = false;

	raft_set_snapshot_trailing(&m->raft,
				   trailing ? (unsigned int)trailing : 1);
	raft_set_snapshot_threshold(&m->raft, late ? 1 : UINT_MAX);
}

/* Whether the members at last_applied may differ from those that libraft would record. */
static bool members_are_uncertain(struct raft_member *m)
{
	uint64_t applied = m->raft.last_applied;

	if (m->raft.configuration_uncommitted_index)
		return true;
	for (uint64_t i = applied + 1; i < log_index_next(&m->index); i++) {
		const struct log_index_entry *entry = log_index_get(&m->index,
								    i);

		if (entry && entry->type == RAFT_CHANGE)
			return true;
	}
	return false;
}

static int fsm_snapshot(struct raft_fsm *fsm, struct raft_buffer *bufs[],
			unsigned int *n_bufs)
{
	struct raft_member *m = fsm->data;

	if (m->put.req || members_are_uncertain(m))
		return RAFT_BUSY;
	*bufs = raft_malloc(sizeof(**bufs));
	if (!*bufs)
		return RAFT_NOMEM;
	(*bufs)->len = 8;
	(*bufs)->base = raft_calloc(1, 8);
	if (!(*bufs)->base) {
		raft_free(*bufs);
		return RAFT_NOMEM;
	}
	*n_bufs = 1;
	return 0;
}

static int fsm_restore(struct raft_fsm *fsm, struct raft_buffer *buf)
{
	raft_free(buf->base);
	return 0;
}

/* ---- sending ---- */

static int io_snapshot_get(struct raft_io *io, struct raft_io_snapshot_get *req,
			   raft_io_snapshot_get_cb cb)
{
	struct raft_member *m = io->impl;
	struct snapshot_request *got = calloc(1, sizeof(*got));

	if (!got)
		return RAFT_NOMEM;
	got->req = req;
	got->cb = cb;
	STAILQ_INSERT_TAIL(&m->got, got, link);
	return 0;
}

struct raft_snapshot *member_snapshot_copy(const struct raft_member *m)
{
	const struct raft_configuration *conf = &m->snapshot.conf;
	struct raft_snapshot *new = raft_calloc(1, sizeof(*new));

	if (!new)
		return NULL;
	new->index = m->snapshot.index;
	new->term = m->snapshot.term;
	new->configuration_index = m->snapshot.conf_index;
	new->n_bufs = 1;
	new->bufs = raft_calloc(1, sizeof(*new->bufs));
	if (!new->bufs)
		goto failed;
	new->bufs[0].len = 8;
	new->bufs[0].base = raft_calloc(1, 8);
	if (!new->bufs[0].base)
		goto failed;
	for (unsigned int i = 0; i < conf->n; i++)
		if (raft_configuration_add(&new->configuration,
					   conf->servers[i].id,
					   conf->servers[i].address,
					   conf->servers[i].role))
			goto failed;
	return new;
failed:
	raft_configuration_close(&new->configuration);
	if (new->bufs)
		raft_free(new->bufs[0].base);
	raft_free(new->bufs);
	raft_free(new);
	return NULL;
}

void member_answer_snapshots(struct raft_member *m)
{
	struct snapshot_request *got;

	while ((got = STAILQ_FIRST(&m->got))) {
		struct raft_snapshot *copy = m->stopping || !m->snapshot.index
						     ? NULL
						     : member_snapshot_copy(m);

		STAILQ_REMOVE_HEAD(&m->got, link);
		got->cb(got->req, copy, copy ? 0 : RAFT_NOTFOUND);
		free(got);
	}
}

void member_snapshot_io(struct raft_io *io, struct raft_fsm *fsm)
{
	io->snapshot_put = io_snapshot_put;
	io->snapshot_get = io_snapshot_get;
	fsm->snapshot = fsm_snapshot;
	fsm->restore = fsm_restore;
}
