/* SPDX-License-Identifier: BSD-2-Clause */
/* member_files.c - the files of a member that is not started. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/raft/member_int.h"

int member_exists(const struct disk_folder *disk, bool *exists)
{
	struct vote_file file;
	int rc = vote_file_open(disk, &file);

	if (rc == -ENOENT) {
		*exists = false;
		return 0;
	}
	if (!rc)
		vote_file_close(&file);
	*exists = true;
	return rc;
}

static int open_empty_or_not(const struct member_attr *attr,
			     struct log_contents *contents,
			     struct entry_log **el)
{
	struct entry_log_attr log = {
		.disk = attr->disk,
		.segment_size = attr->segment_size ? attr->segment_size
						   : ENTRY_LOG_SEGMENT,
		.limit = attr->log_limit,
		.log = attr->log
	};

	return entry_log_open(&log, contents, el);
}

static int make_voters(const struct member_address *voters, size_t n,
		       struct raft_configuration *conf)
{
	int rc = 0;

	if (!n || n > MEMBERS_MAX)
		return -EINVAL;
	raft_configuration_init(conf);
	for (size_t i = 0; !rc && i < n; i++)
		rc = !voters[i].id || !voters[i].address[0] ||
				     strlen(voters[i].address) >
					     MEMBER_ADDRESS_MAX
			     ? RAFT_BADID
			     : raft_configuration_add(conf, voters[i].id,
						      voters[i].address,
						      RAFT_VOTER);
	if (!rc)
		return 0;
	raft_configuration_close(conf);
	return rc == RAFT_NOMEM ? -ENOMEM : -EINVAL;
}

static int encode_voters(const struct member_address *voters, size_t n,
			 struct raft_buffer *buf)
{
	struct raft_configuration conf;
	int rc = make_voters(voters, n, &conf);

	if (rc)
		return rc;
	rc = member_list_encode(&conf, buf);
	raft_configuration_close(&conf);
	return rc;
}

static struct log_record voters_record(const struct raft_buffer *buf,
				       uint64_t index, uint64_t term)
{
	return (struct log_record){ .kind = LOG_ENTRY,
				    .type = RAFT_CHANGE,
				    .index = index,
				    .term = term,
				    .data = buf->base,
				    .len = (uint32_t)buf->len };
}

static bool is_only_snapshot(const struct log_contents *contents,
			     const struct log_record *record)
{
	return !contents->n && contents->snapshot.index == record->index &&
	       contents->snapshot.term == record->term &&
	       contents->snapshot.len == record->len &&
	       !memcmp(contents->snapshot.data, record->data, record->len);
}

static bool is_only_entry(const struct log_contents *contents,
			  const struct log_record *record)
{
	const struct log_entry *entry = contents->entries;

	return contents->n == 1 && contents->first == record->index &&
	       !contents->snapshot.index && entry->term == record->term &&
	       entry->type == record->type && entry->len == record->len &&
	       !memcmp(entry->data, record->data, record->len);
}

/* A founding was interrupted: its group never had a member. */
static bool is_founding(const struct log_contents *contents)
{
	return !contents->n && contents->snapshot.index == 1 &&
	       contents->snapshot.term == 1;
}

/* A call that was interrupted may have written the entry already. */
static int write_first(const struct member_attr *attr, struct entry_log *el,
		       const struct log_contents *contents,
		       const struct log_record *record)
{
	if (record &&
	    (record->kind == LOG_RESET ? is_only_snapshot(contents, record)
				       : is_only_entry(contents, record)))
		return 0;
	if ((contents->n || contents->snapshot.index) &&
	    !(record && record->kind == LOG_RESET && is_founding(contents))) {
		log_error(attr->log,
			  "the folder holds a raft log, but not the file vote: "
			  "remove the log, and add the member again");
		return -EEXIST;
	}
	return record ? entry_log_write(el, record, 1) : 0;
}

/* record: the first entry; NULL: another member will send it. */
static int create_log(const struct member_attr *attr,
		      const struct log_record *record)
{
	struct log_contents contents;
	struct entry_log *el;
	int rc = open_empty_or_not(attr, &contents, &el);

	if (rc)
		return rc;
	rc = write_first(attr, el, &contents, record);
	log_contents_free(&contents);
	entry_log_close(el);
	return rc;
}

/* The first entry has the same index, term and content at all first voters. */
static int create_log_of(const struct member_attr *attr,
			 const struct member_address *voters, size_t n)
{
	struct log_record record;
	struct raft_buffer buf;
	int rc;

	if (!n)
		return create_log(attr, NULL);
	rc = encode_voters(voters, n, &buf);
	if (rc)
		return rc;
	record = voters_record(&buf, 1, 1);
	rc = create_log(attr, &record);
	raft_free(buf.base);
	return rc;
}

static int create_vote(const struct member_attr *attr, uint64_t term)
{
	const struct vote vote = { .group = attr->group,
				   .member = attr->id,
				   .term = term };
	struct vote_file file;
	int rc = vote_file_create(&attr->disk, &vote, &file);

	if (!rc)
		vote_file_close(&file);
	return rc;
}

static int check_none(const struct member_attr *attr)
{
	bool exists;
	int rc = member_exists(&attr->disk, &exists);

	return rc ? rc : exists ? -EEXIST : 0;
}

int member_create(const struct member_attr *attr,
		  const struct member_address *voters, size_t n)
{
	int rc = check_none(attr);

	rc = rc ? rc : create_log_of(attr, voters, n);
	return rc ? rc : create_vote(attr, n ? 1 : 0);
}

static int create_founded_log(const struct member_attr *attr,
			      const struct member_address *self)
{
	struct log_record record = { .kind = LOG_RESET, .index = 1, .term = 1 };
	struct raft_configuration conf;
	void *data;
	int rc = make_voters(self, 1, &conf);

	if (rc)
		return rc;
	rc = member_snapshot_encode(&conf, 1, &data, &record.len);
	raft_configuration_close(&conf);
	if (rc)
		return rc;
	record.data = data;
	rc = create_log(attr, &record);
	free(data);
	return rc;
}

int member_found(const struct member_attr *attr,
		 const struct member_address *self)
{
	int rc = check_none(attr);

	rc = rc ? rc : create_founded_log(attr, self);
	return rc ? rc : create_vote(attr, 1);
}

int member_identity(const struct disk_folder *disk, uint64_t *group,
		    uint64_t *id)
{
	struct vote_file file;
	int rc = vote_file_open(disk, &file);

	if (rc)
		return rc;
	*group = file.vote.group;
	*id = file.vote.member;
	vote_file_close(&file);
	return 0;
}

int member_snapshot_index(const struct member_attr *attr, uint64_t *index)
{
	struct log_contents contents;
	struct entry_log *el;
	int rc = open_empty_or_not(attr, &contents, &el);

	if (rc)
		return rc;
	*index = contents.snapshot.index;
	log_contents_free(&contents);
	entry_log_close(el);
	return 0;
}

int member_last_entry(const struct member_attr *attr, uint64_t *index,
		      uint64_t *term)
{
	struct log_contents contents;
	struct entry_log *el;
	int rc = open_empty_or_not(attr, &contents, &el);

	if (rc)
		return rc;
	*index = log_contents_next(&contents) - 1;
	*term = contents.n ? contents.entries[contents.n - 1].term
			   : contents.snapshot.term;
	log_contents_free(&contents);
	entry_log_close(el);
	return 0;
}

static int write_voters(struct entry_log *el, uint64_t index, uint64_t term,
			const struct member_address *voters, size_t n)
{
	struct log_record record;
	struct raft_buffer buf;
	int rc = encode_voters(voters, n, &buf);

	if (rc)
		return rc;
	record = voters_record(&buf, index, term);
	rc = entry_log_write(el, &record, 1);
	raft_free(buf.base);
	return rc;
}

/*
 * Stores the new number of the group, and appends an entry with these voters, in a new term.  The
 * term is above all terms that this member knows.
 */
static int force_voters(struct vote_file *file, uint64_t group,
			struct entry_log *el,
			const struct log_contents *contents,
			const struct member_address *voters, size_t n)
{
	uint64_t term = file->vote.term + 1;
	int rc = vote_file_store_group(file, group, term);

	return rc ? rc
		  : write_voters(el, log_contents_next(contents), term, voters,
				 n);
}

int member_force(const struct member_attr *attr, uint64_t group,
		 const struct member_address *voters, size_t n)
{
	struct log_contents contents;
	struct vote_file file;
	struct entry_log *el;
	int rc = vote_file_open(&attr->disk, &file);

	if (rc)
		return rc;
	rc = open_empty_or_not(attr, &contents, &el);
	if (!rc) {
		if (contents.n || contents.snapshot.index)
			rc = force_voters(&file, group, el, &contents, voters,
					  n);
		else
			rc = -ENOENT;
		log_contents_free(&contents);
		entry_log_close(el);
	}
	vote_file_close(&file);
	return rc;
}
