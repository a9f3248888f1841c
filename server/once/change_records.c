/* SPDX-License-Identifier: BSD-2-Clause */
/* change_records.c - see change_records.h. */
#include "server/once/change_records.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"

struct slot_key {
	uint64_t session;
	uint32_t origin, slot;
};

struct record_session {
	uint64_t id;
	LIST_HEAD(, change_record) records;
	UT_hash_handle hh;
};

struct change_record {
	struct slot_key key;
	uint64_t seq, done, total, until;
	bool unsure; /* earlier parts of this request may have been dropped */
	struct record_session *session;
	LIST_ENTRY(change_record) of_session;
	TAILQ_ENTRY(change_record) by_age;
	UT_hash_handle hh;
};

struct change_records {
	unsigned int max, n;
	pthread_mutex_t lock; /* guards all below */
	uint64_t doubt_until; /* until then, a dropped record may be asked for */
	struct change_record *table;
	struct record_session *sessions; /* those that have records */
	TAILQ_HEAD(records_by_age, change_record)
	by_age; /* oldest part first */
};

static struct slot_key key_of(const struct change_id *id)
{
	return (struct slot_key){ id->session, id->origin, id->slot };
}

static struct change_record *find_record(const struct change_records *records,
					 const struct change_id *id)
{
	const struct slot_key key = key_of(id);
	struct change_record *r;

	HASH_FIND(hh, records->table, &key, sizeof(key), r);
	return r;
}

static void remove_record(struct change_records *records,
			  struct change_record *r)
{
	struct record_session *session = r->session;

	HASH_DEL(records->table, r);
	TAILQ_REMOVE(&records->by_age, r, by_age);
	LIST_REMOVE(r, of_session);
	free(r);
	records->n--;
	if (!LIST_EMPTY(&session->records))
		return;
	HASH_DEL(records->sessions, session);
	free(session);
}

static void extend_doubt(struct change_records *records, uint64_t until)
{
	if (until > records->doubt_until)
		records->doubt_until = until;
}

static void drop_oldest(struct change_records *records)
{
	struct change_record *oldest = TAILQ_FIRST(&records->by_age);

	extend_doubt(records, oldest->until);
	remove_record(records, oldest);
}

/* Finds or makes it.  NULL: no memory. */
static struct record_session *get_session(struct change_records *records,
					  uint64_t id)
{
	struct record_session *session;

	HASH_FIND(hh, records->sessions, &id, sizeof(id), session);
	if (session)
		return session;
	session = calloc(1, sizeof(*session));
	if (!session)
		return NULL;
	session->id = id;
	LIST_INIT(&session->records);
	HASH_ADD(hh, records->sessions, id, sizeof(session->id), session);
	if (session->hh.tbl)
		return session;
	free(session);
	return NULL;
}

static void free_unused(struct change_records *records,
			struct record_session *session)
{
	if (!session || !LIST_EMPTY(&session->records))
		return;
	HASH_DEL(records->sessions, session);
	free(session);
}

/* NULL: no memory. */
static struct change_record *add_record(struct change_records *records,
					const struct change_id *id)
{
	struct record_session *session = get_session(records, id->session);
	struct change_record *r = session ? calloc(1, sizeof(*r)) : NULL;

	if (r) {
		r->key = key_of(id);
		HASH_ADD(hh, records->table, key, sizeof(r->key), r);
	}
	if (!r || !r->hh.tbl) {
		free(r);
		free_unused(records, session);
		return NULL;
	}
	r->session = session;
	r->unsure = records->doubt_until;
	LIST_INSERT_HEAD(&session->records, r, of_session);
	TAILQ_INSERT_TAIL(&records->by_age, r, by_age);
	records->n++;
	return r;
}

static void record_part(struct change_records *records, struct change_record *r,
			const struct change_id *id, uint64_t bytes,
			uint64_t total, uint64_t until)
{
	if (id->seq < r->seq)
		return;
	if (id->seq > r->seq && r->seq) {
		r->done = 0;
		r->unsure = false;
	}
	r->seq = id->seq;
	r->total = total;
	r->done = r->done + bytes < total ? r->done + bytes : total;
	r->until = until;
	TAILQ_REMOVE(&records->by_age, r, by_age);
	TAILQ_INSERT_TAIL(&records->by_age, r, by_age);
}

void change_records_add(struct change_records *records,
			const struct change_id *id, uint64_t bytes,
			uint64_t total, uint64_t until)
{
	struct change_record *r;

	pthread_mutex_lock(&records->lock);
	r = find_record(records, id);
	if (!r) {
		if (records->n == records->max)
			drop_oldest(records);
		r = add_record(records, id);
	}
	if (r)
		record_part(records, r, id, bytes, total, until);
	else
		extend_doubt(records, until);
	pthread_mutex_unlock(&records->lock);
}

/* 0, or -ECONNABORTED: parts of the request may have been dropped.  r: NULL, or of its slot. */
static int check_known(const struct change_records *records,
		       const struct change_record *r, uint64_t seq,
		       uint64_t now)
{
	bool known;

	if (!r)
		known = now >= records->doubt_until;
	else if (seq == r->seq)
		known = !r->unsure || r->done == r->total;
	else
		known = seq > r->seq;
	return known ? 0 : -ECONNABORTED;
}

int change_records_find(struct change_records *records,
			const struct change_id *id, uint64_t now,
			enum change_outcome *outcome, uint64_t *done)
{
	const struct change_record *r;
	int rc;

	pthread_mutex_lock(&records->lock);
	r = find_record(records, id);
	rc = check_known(records, r, id->seq, now);
	if (!rc) {
		*done = r && id->seq == r->seq ? r->done : 0;
		*outcome = !*done	      ? CHANGE_UNKNOWN
			   : *done < r->total ? CHANGE_PART
					      : CHANGE_DONE;
	}
	pthread_mutex_unlock(&records->lock);
	return rc;
}

void change_records_end_session(struct change_records *records,
				uint64_t session)
{
	struct record_session *found;
	struct change_record *r, *next;

	pthread_mutex_lock(&records->lock);
	HASH_FIND(hh, records->sessions, &session, sizeof(session), found);
	for (r = found ? LIST_FIRST(&found->records) : NULL; r; r = next) {
		next = LIST_NEXT(r, of_session);
		remove_record(records, r);
	}
	pthread_mutex_unlock(&records->lock);
}

int change_records_open(unsigned int max, struct change_records **out)
{
	struct change_records *records = calloc(1, sizeof(*records));

	if (!records)
		return -ENOMEM;
	records->max = max;
	TAILQ_INIT(&records->by_age);
	pthread_mutex_init(&records->lock, NULL);
	*out = records;
	return 0;
}

void change_records_close(struct change_records *records)
{
	if (!records)
		return;
	while (records->n)
		remove_record(records, TAILQ_FIRST(&records->by_age));
	pthread_mutex_destroy(&records->lock);
	free(records);
}
