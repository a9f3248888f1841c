/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member_disk.c - the part of struct raft_io for term, vote and entries.
 *
 * If one of these functions fails, libraft rolls back in memory and continues with a log that
 * differs from the disk (canonical/raft#470).  So instead of an error to libraft, the whole member
 * fails.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/raft/member_int.h"

/* ---- files ---- */

static void wake_loop(void *arg)
{
	struct raft_member *m = arg;

	m->attr.log_thread.wake(m->attr.log_thread.arg);
}

void member_wake_writer(void *member)
{
	struct raft_member *m = member;

	if (m->thread)
		log_thread_wake(m->thread);
	else if (m->attr.log_thread.submitted)
		m->attr.log_thread.submitted(m->attr.log_thread.arg);
}

static void write_in_thread(void *arg)
{
	struct raft_member *m = arg;

	log_writer_work(m->writer);
}

static int open_vote(struct raft_member *m)
{
	int rc = vote_file_open(&m->attr.disk, &m->vote);

	if (!rc && (m->vote.vote.group != m->attr.group ||
		    m->vote.vote.member != m->attr.id)) {
		log_error(m->attr.log,
			  "the raft log belongs to member %" PRIu64
			  " of group %016" PRIx64,
			  m->vote.vote.member, m->vote.vote.group);
		vote_file_close(&m->vote);
		rc = -ESTALE;
	}
	if (rc)
		m->vote.fd = -1;
	if (rc == -EIO)
		log_error(m->attr.log,
			  "the file vote of the raft log is damaged: this "
			  "member must be filled again from the others");
	return rc;
}

static int fill_index(struct raft_member *m)
{
	const struct log_contents *loaded = &m->loaded;

	log_index_init(&m->index, loaded->first);
	for (size_t i = 0; i < loaded->n; i++) {
		const struct log_entry *entry = &loaded->entries[i];

		if (log_index_add(&m->index, entry->term, entry->type,
				  entry_log_space(entry->len)))
			return -ENOMEM;
	}
	if (!loaded->snapshot.index)
		return 0;
	return member_snapshot_decode(m, loaded->snapshot.index,
				      loaded->snapshot.term,
				      loaded->snapshot.data,
				      loaded->snapshot.len);
}

/* A term is durable before any entry of it; otherwise a vote was forgotten. */
static int check_loaded(struct raft_member *m)
{
	const struct log_contents *loaded = &m->loaded;
	uint64_t last = loaded->n ? loaded->entries[loaded->n - 1].term
				  : loaded->snapshot.term;

	if (last <= m->vote.vote.term)
		return 0;
	log_error(m->attr.log,
		  "the raft log has entries of term %" PRIu64
		  ", but the file vote knows only term %" PRIu64
		  ": this member must be filled again from the others",
		  last, m->vote.vote.term);
	return -EIO;
}

static int open_log(struct raft_member *m, struct entry_log **el)
{
	struct entry_log_attr attr = { .disk = m->attr.disk,
				       .segment_size = m->attr.segment_size,
				       .limit = m->attr.log_limit,
				       .log = m->attr.log };
	int rc = entry_log_open(&attr, &m->loaded, el);

	if (rc)
		return rc;
	rc = check_loaded(m);
	rc = rc ? rc : fill_index(m);
	if (rc)
		entry_log_close(*el);
	return rc;
}

static int open_writer(struct raft_member *m, struct entry_log *el)
{
	struct log_writer_attr attr = { .el = el,
					.submitted = member_wake_writer,
					.completed = wake_loop,
					.submitted_arg = m,
					.completed_arg = m };
	int rc = log_writer_open(&attr, &m->writer);

	if (rc) {
		entry_log_close(el);
		return rc;
	}
	if (m->attr.log_thread.submitted)
		return 0;
	return log_thread_start(write_in_thread, m, &m->thread);
}

int member_open_files(struct raft_member *m)
{
	struct entry_log *el;
	int rc = open_vote(m);

	rc = rc ? rc : open_log(m, &el);
	rc = rc ? rc : open_writer(m, el);
	return rc;
}

void member_close_files(struct raft_member *m)
{
	if (m->writer)
		log_writer_close(m->writer);
	if (m->vote.fd >= 0)
		vote_file_close(&m->vote);
	log_index_free(&m->index);
	log_contents_free(&m->loaded);
	raft_configuration_close(&m->snapshot.conf);
}

/* ---- load ---- */

static int load_entries(struct raft_member *m, struct raft_entry **entries,
			size_t *n)
{
	struct log_contents *loaded = &m->loaded;
	struct raft_entry *out;

	*entries = NULL;
	*n = loaded->n;
	if (!loaded->n)
		return 0;
	out = raft_calloc(loaded->n, sizeof(*out));
	if (!out)
		return RAFT_NOMEM;
	for (size_t i = 0; i < loaded->n; i++) {
		const struct log_entry *entry = &loaded->entries[i];

		out[i].term = entry->term;
		out[i].type = entry->type;
		out[i].buf.len = entry->len;
		out[i].buf.base = raft_malloc(entry->len ? entry->len : 1);
		if (!out[i].buf.base)
			return RAFT_NOMEM; /* the member does not start */
		memcpy(out[i].buf.base, entry->data, entry->len);
	}
	*entries = out;
	return 0;
}

static bool is_only_voter(const struct raft_member *m,
			  const struct raft_configuration *conf)
{
	const struct raft_server *server = member_list_find(conf, m->attr.id);

	return server && server->role == RAFT_VOTER &&
	       member_list_voters(conf) == 1;
}

/* Whether this member is the only voter in the newest list of members. */
static bool leads_alone(const struct raft_member *m)
{
	const struct log_contents *loaded = &m->loaded;
	struct raft_configuration conf;
	bool alone;

	for (size_t i = loaded->n; i; i--) {
		const struct log_entry *entry = &loaded->entries[i - 1];

		if (entry->type != RAFT_CHANGE ||
		    member_list_decode(entry->data, entry->len, &conf))
			continue;
		alone = is_only_voter(m, &conf);
		raft_configuration_close(&conf);
		return alone;
	}
	return is_only_voter(m, &m->snapshot.conf);
}

/*
 * libraft lets a single voter lead without an election, in the stored term.  But an earlier process
 * may have sent other entries of this term to a member without a vote.  So a new term begins.
 */
static int begin_own_term(struct raft_member *m)
{
	if (!leads_alone(m))
		return 0;
	return vote_file_store(&m->vote, m->vote.vote.term + 1, m->attr.id);
}

static int io_load(struct raft_io *io, raft_term *term, raft_id *voted_for,
		   struct raft_snapshot **snapshot, raft_index *start_index,
		   struct raft_entry **entries, size_t *n_entries)
{
	struct raft_member *m = io->impl;
	int rc = begin_own_term(m) ? RAFT_IOERR
				   : load_entries(m, entries, n_entries);

	*snapshot = m->snapshot.index ? member_snapshot_copy(m) : NULL;
	if (m->snapshot.index && !*snapshot)
		rc = RAFT_NOMEM;
	*term = m->vote.vote.term;
	*voted_for = m->vote.vote.voted_for;
	*start_index = m->loaded.first;
	return rc;
}

/* ---- term and vote ---- */

static int store_vote(struct raft_member *m, raft_term term, raft_id voted_for)
{
	int rc = vote_file_store(&m->vote, term, voted_for);

	if (!rc)
		return 0;
	/*
	 * After RAFT_IOERR, libraft treats a candidate as a follower, but keeps the bytes of the
	 * candidate's state in the union.  So clear the pointer that it reads there.
	 */
	if (raft_state(&m->raft) == RAFT_CANDIDATE)
		m->raft.follower_state.current_leader.address = NULL;
	member_fail(m, "cannot store term and vote: %s", strerror(-rc));
	return RAFT_IOERR;
}

static int io_set_term(struct raft_io *io, raft_term term)
{
	struct raft_member *m = io->impl;

	if (term < m->vote.vote.term) {
		member_fail(m, "term %" PRIu64 " would follow term %" PRIu64,
			    (uint64_t)term, m->vote.vote.term);
		return RAFT_INVALID;
	}
	return store_vote(m, term, 0);
}

/*
 * Refuses a second vote in one term: libraft asks for one while a leader hands over.  Then the
 * manager restarts instead.
 */
static int io_set_vote(struct raft_io *io, raft_id server_id)
{
	struct raft_member *m = io->impl;

	if (m->vote.vote.voted_for && m->vote.vote.voted_for != server_id) {
		member_want_restart(m, "it would vote twice in a term");
		return RAFT_INVALID;
	}
	return store_vote(m, m->vote.vote.term, server_id);
}

/* ---- entries ---- */

struct append {
	struct log_job job;
	struct raft_member *m;
	struct raft_io_append *req;
	raft_io_append_cb cb;
	struct log_record records[];
};

static void free_job(struct log_job *job)
{
	free(job);
}

static void append_stored(struct log_job *job)
{
	struct append *append = (struct append *)job;

	append->cb(append->req, 0);
	free(append);
}

static int index_entries(struct raft_member *m,
			 const struct raft_entry *entries, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (log_index_add(&m->index, entries[i].term, entries[i].type,
				  entry_log_space(entries[i].buf.len)))
			return -ENOMEM;
	return 0;
}

static int io_append(struct raft_io *io, struct raft_io_append *req,
		     const struct raft_entry entries[], unsigned int n,
		     raft_io_append_cb cb)
{
	struct raft_member *m = io->impl;
	uint64_t index = log_index_next(&m->index);
	struct append *append =
		calloc(1, sizeof(*append) + n * sizeof(append->records[0]));

	if (!append || index_entries(m, entries, n)) {
		free(append);
		member_fail(m, "no memory for the raft log");
		return RAFT_NOMEM;
	}
	append->m = m;
	append->req = req;
	append->cb = cb;
	append->job.records = append->records;
	append->job.n = n;
	append->job.done = append_stored;
	append->job.drop = free_job;
	for (unsigned int i = 0; i < n; i++)
		if (entries[i].type == RAFT_CHANGE)
			member_list_wipe_padding(&entries[i].buf);
	for (unsigned int i = 0; i < n; i++)
		append->records[i] = (struct log_record){
			.kind = LOG_ENTRY,
			.type = entries[i].type,
			.index = index + i,
			.term = entries[i].term,
			.data = entries[i].buf.base,
			.len = (uint32_t)entries[i].buf.len,
		};
	/* A follower: libraft has compared its log up to the end of the message. */
	if (m->accepted.handling)
		m->accepted.storing = true;
	if (m->accepted.handling > m->accepted.verified)
		m->accepted.verified = m->accepted.handling;
	log_writer_submit(m->writer, &append->job);
	return 0;
}

struct truncation {
	struct log_job job;
	struct log_record record;
};

/* Does not wait until the truncation is durable: later entries are written after it. */
int member_truncate(struct raft_member *m, uint64_t index)
{
	struct truncation *truncation = calloc(1, sizeof(*truncation));

	if (!truncation) {
		member_fail(m, "no memory for the raft log");
		return -ENOMEM;
	}
	truncation->record = (struct log_record){ .kind = LOG_TRUNCATE,
						  .index = index };
	truncation->job.records = &truncation->record;
	truncation->job.n = 1;
	truncation->job.done = free_job;
	truncation->job.drop = free_job;
	log_index_truncate(&m->index, index);
	log_writer_submit(m->writer, &truncation->job);
	return 0;
}

static int io_truncate(struct raft_io *io, raft_index index)
{
	return member_truncate(io->impl, index) ? RAFT_NOMEM : 0;
}

void member_disk_io(struct raft_io *io)
{
	io->load = io_load;
	io->set_term = io_set_term;
	io->set_vote = io_set_vote;
	io->append = io_append;
	io->truncate = io_truncate;
}
