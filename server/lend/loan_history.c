/* SPDX-License-Identifier: BSD-2-Clause */
/* loan_history.c - the objects that sessions borrow or have borrowed, in memory and in a file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "common/util/hash_table.h"
#include "server/lend/loan_history.h"

#define FILE_NAME ".had"
#define BUCKETS 1024u
#define NOTE_WRITE 1u
#define NOTE_EVICT 2u /* the object has to be replaced */

struct record_key {
	uint64_t session;
	struct object_key object;
};

struct history_record {
	struct record_key key;
	uint32_t flags; /* NOTE_*, as in the file */
	uint32_t slot; /* of its note; the record keeps it while it is unused */
	UT_hash_handle hh; /* in the order of the last loan */
	LIST_ENTRY(history_record)
	link; /* of its session's bucket, or of unused */
};
LIST_HEAD(history_records, history_record);

struct loan_history {
	const struct log *log;
	int fd; /* of the notes; -1: none */
	uint32_t slots; /* notes that have a record */
	struct history_record *records; /* by key */
	struct history_records bucket[BUCKETS]; /* by session */
	struct history_records unused;
};

/* ---- notes: records in the file ---- */

struct history_note {
	uint64_t session, handle; /* handle 0: unused */
	uint32_t flags;
	uint32_t copyset; /* 0 in files of earlier releases */
	uint32_t reserved[2];
};

static int open_notes(int dirfd)
{
	int fd = openat(dirfd, FILE_NAME,
			O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? -errno : fd;
}

/* -ENOENT: the file ends before this slot. */
static int read_note(int fd, uint32_t slot, struct history_note *note)
{
	ssize_t n = pread(fd, note, sizeof(*note),
			  (off_t)slot * (off_t)sizeof(*note));

	if (n == (ssize_t)sizeof(*note))
		return 0;
	return n < 0 ? -errno : -ENOENT;
}

static int write_note(int fd, uint32_t slot, const struct history_note *note)
{
	ssize_t n;

	if (fd < 0)
		return 0;
	n = pwrite(fd, note, sizeof(*note), (off_t)slot * (off_t)sizeof(*note));
	if (n == (ssize_t)sizeof(*note))
		return 0;
	return n < 0 ? -errno : -ENOSPC;
}

static int note_record(const struct loan_history *h,
		       const struct history_record *record)
{
	const struct history_note note = {
		.session = record->key.session,
		.handle = record->key.object.handle,
		.flags = record->flags,
		.copyset = (uint32_t)record->key.object.copyset,
	};

	return write_note(h->fd, record->slot, &note);
}

/* ---- records ---- */

static struct history_records *bucket_of(struct loan_history *h,
					 uint64_t session)
{
	return &h->bucket[session % BUCKETS];
}

static struct history_record *find_record(const struct loan_history *h,
					  uint64_t session,
					  struct object_key object)
{
	const struct record_key key = { session, object };
	struct history_record *record;

	HASH_FIND(hh, h->records, &key, sizeof(key), record);
	return record;
}

static void set_unused(struct loan_history *h, struct history_record *record)
{
	LIST_INSERT_HEAD(&h->unused, record, link);
}

/*
 * Removes the record from memory.  The copy in the file stays until another record uses its slot.
 */
static void remove_record(struct loan_history *h, struct history_record *record)
{
	HASH_DEL(h->records, record);
	LIST_REMOVE(record, link);
	set_unused(h, record);
}

static struct history_record *new_record(struct loan_history *h)
{
	struct history_record *record = calloc(1, sizeof(*record));

	if (record)
		record->slot = h->slots++;
	return record;
}

static struct history_record *get_unused(struct loan_history *h)
{
	struct history_record *record;

	if (HASH_COUNT(h->records) == LOAN_HISTORY_MAX)
		remove_record(h, h->records);
	record = LIST_FIRST(&h->unused);
	if (record)
		LIST_REMOVE(record, link);
	return record ? record : new_record(h);
}

static int insert_record(struct loan_history *h, struct history_record *record,
			 const struct record_key *key, uint32_t flags)
{
	record->key = *key;
	record->flags = flags;
	HASH_ADD(hh, h->records, key, sizeof(record->key), record);
	if (!record->hh.tbl) {
		set_unused(h, record);
		return -ENOMEM;
	}
	LIST_INSERT_HEAD(bucket_of(h, key->session), record, link);
	return 0;
}

static int add_record(struct loan_history *h, const struct record_key *key,
		      uint32_t flags)
{
	struct history_record *record = get_unused(h);
	int rc = record ? insert_record(h, record, key, flags) : -ENOMEM;

	if (rc)
		return rc;
	rc = note_record(h, record);
	if (rc)
		remove_record(h, record);
	return rc;
}

/*
 * Must not allocate memory, because the record would be lost on failure.  uthash frees a table that
 * becomes empty, so a single record is not moved.  A table with more records keeps its room.
 */
static void make_newest(struct loan_history *h, struct history_record *record)
{
	if (!record->hh.next)
		return;
	HASH_DEL(h->records, record);
	HASH_ADD(hh, h->records, key, sizeof(record->key), record);
}

/* Makes the record the newest one and adds flags. */
static int renew_record(struct loan_history *h, struct history_record *record,
			uint32_t flags)
{
	uint32_t before = record->flags;
	int rc;

	make_newest(h, record);
	record->flags |= flags;
	rc = record->flags == before ? 0 : note_record(h, record);
	if (rc)
		record->flags = before; /* as in the file: the caller retries */
	return rc;
}

int loan_history_record(struct loan_history *h, uint64_t session,
			struct object_key object, bool write)
{
	const struct record_key key = { session, object };
	struct history_record *record = find_record(h, session, object);
	uint32_t flags = write ? NOTE_WRITE : 0;

	return record ? renew_record(h, record, flags)
		      : add_record(h, &key, flags);
}

void loan_history_returned(struct loan_history *h, uint64_t session,
			   struct object_key object, bool write)
{
	int rc = loan_history_record(h, session, object, write);

	if (rc)
		log_error(h->log,
			  "cannot record that object %s was lent to session "
			  "%016llx: %s; pvfs-evict will not replace the object",
			  object_key_text(object).s,
			  (unsigned long long)session, strerror(-rc));
}

void loan_history_evict(struct loan_history *h, uint64_t session,
			struct object_key object)
{
	struct history_record *record = find_record(h, session, object);
	int rc;

	if (!record)
		return;
	record->flags |= NOTE_EVICT;
	rc = note_record(h, record);
	if (rc)
		log_error(
			h->log,
			"cannot record that object %s of evicted session "
			"%016llx has to be replaced: %s; if this iod restarts "
			"before it has replaced the object, end the program of "
			"the session",
			object_key_text(object).s, (unsigned long long)session,
			strerror(-rc));
}

void loan_history_erase(struct loan_history *h, uint64_t session,
			struct object_key object)
{
	static const struct history_note none;
	struct history_record *record = find_record(h, session, object);

	if (!record)
		return;
	write_note(h->fd, record->slot, &none);
	remove_record(h, record);
}

void loan_history_visit(struct loan_history *h, uint64_t session,
			loan_history_fn *fn, void *arg)
{
	const struct history_record *record;

	LIST_FOREACH(record, bucket_of(h, session), link)
		if (record->key.session == session)
			fn(arg, session, record->key.object,
			   record->flags & NOTE_WRITE);
}

void loan_history_visit_evicted(struct loan_history *h, loan_history_fn *fn,
				void *arg)
{
	const struct history_record *record;

	for (record = h->records; record; record = record->hh.next)
		if (record->flags & NOTE_EVICT)
			fn(arg, record->key.session, record->key.object,
			   record->flags & NOTE_WRITE);
}

/* ---- opening and closing ---- */

static int adopt_note(struct loan_history *h, const struct history_note *note)
{
	const struct record_key key = { note->session,
					{ note->handle, note->copyset } };
	struct history_record *record = new_record(h);

	if (!record)
		return -ENOMEM;
	if (note->handle && !find_record(h, key.session, key.object))
		return insert_record(h, record, &key, note->flags);
	set_unused(h, record);
	return 0;
}

static int read_notes(struct loan_history *h, int dirfd)
{
	struct history_note note;
	int rc = 0;

	h->fd = open_notes(dirfd);
	if (h->fd < 0)
		return h->fd;
	while (!rc && h->slots < LOAN_HISTORY_MAX) {
		rc = read_note(h->fd, h->slots, &note);
		if (!rc)
			rc = adopt_note(h, &note);
	}
	return rc == -ENOENT ? 0 : rc;
}

int loan_history_open(int dirfd, const struct log *log,
		      struct loan_history **out)
{
	struct loan_history *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return -ENOMEM;
	h->log = log;
	h->fd = -1;
	rc = dirfd < 0 ? 0 : read_notes(h, dirfd);
	if (rc)
		loan_history_close(h);
	else
		*out = h;
	return rc;
}

void loan_history_close(struct loan_history *h)
{
	struct history_record *record;

	if (!h)
		return;
	while (h->records)
		remove_record(h, h->records);
	while ((record = LIST_FIRST(&h->unused))) {
		LIST_REMOVE(record, link);
		free(record);
	}
	if (h->fd >= 0)
		close(h->fd);
	free(h);
}
