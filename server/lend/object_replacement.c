/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_replacement.c - replaces objects by copies, so that what borrowers still write to the old
 * files is not in the objects (common/wire/loan_pages.h): objects of stuck writers, and objects
 * that an evicted session has or had.
 *
 * A descriptor that a client received cannot be taken back.  So all objects of the session are
 * replaced by copies, whatever its marks say; also the returned ones, because the client can
 * have kept the descriptor.
 *
 *	FENCE ---> pending ---------------------------> replaced
 *	              |  no room                           ^
 *	              +---------> deferred, retried -------+
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "server/lend/loan_table_int.h"

#define CHECK_MS 10u
#define RETRY_MS 100u /* if there was no room for a copy */
#define DEFER_MS 1000u
#define SESSIONS                                                               \
	512u /* more than are evicted before the first of them has closed */

struct replacement {
	struct loan_table *table;
	struct object_key key;
	uint64_t check_at; /* other stuck writers, clock_now() */
};

/* A long copy must not keep the gates of other objects closed after their writers have left. */
static bool continue_copy(void *arg)
{
	struct replacement *r = arg;

	if (clock_now() >= r->check_at) {
		pthread_mutex_lock(&r->table->lock);
		stuck_writers_check_others(r->table, r->key);
		pthread_mutex_unlock(&r->table->lock);
		r->check_at = clock_after_ms(CHECK_MS);
	}
	return !atomic_load(&r->table->stopping);
}

/* Serving threads need the lock during the copy. */
static int copy_object(struct loan_table *table, struct object_key key)
{
	struct replacement r = { table, key, clock_after_ms(CHECK_MS) };
	const struct store_copy_control control = { continue_copy, &r };
	int rc;

	if (!loan_recall_object(table, key))
		return -EAGAIN;
	pthread_mutex_unlock(&table->lock);
	rc = store_obj_replace(table->attr.store, key, &control);
	pthread_mutex_lock(&table->lock);
	return rc;
}

/*
 * Replaces the object by a copy, and completes the writers that are stuck in it.  0; -EAGAIN: not
 * possible yet; other errors are those of store_obj_replace().
 */
static int replace_by_copy(struct loan_table *table, struct object_key key)
{
	int rc = copy_object(table, key);

	if (!rc)
		stuck_writers_complete_object(table, key);
	return rc;
}

/* ---- objects of stuck writers ---- */

static bool is_due(const struct object_loan *loan)
{
	uint64_t now = clock_now();

	return now - loan->since >= LOAN_REPLACE_MS * CLOCK_NS_PER_MS &&
	       now >= loan->retry_at;
}

static void log_success(const struct loan_table *table,
			const struct object_loan *loan)
{
	log_info(table->attr.log,
		 "%s: pid %ld stayed inside a write to object %s: the "
		 "object was replaced by a copy, and the rest of the write is "
		 "discarded; no action is needed",
		 loan->ses->peer, (long)loan->ses->process.pid,
		 object_key_text(loan->key).s);
}

static void log_failure(const struct loan_table *table,
			struct object_loan *loan, int rc)
{
	if (loan->warned)
		return;
	loan->warned = true;
	log_warn(table->attr.log,
		 "%s: pid %ld stays inside a write to object %s, which "
		 "cannot be replaced by a copy: %s; other clients wait for the "
		 "object: free some space, or end the process",
		 loan->ses->peer, (long)loan->ses->process.pid,
		 object_key_text(loan->key).s, strerror(-rc));
}

static void kill_writer(const struct loan_table *table,
			struct object_loan *loan)
{
	const struct loan_session *ses = loan->ses;

	loan->killed = true;
	if (!borrower_process_maps_file(&ses->process, ses->files.marks_fd))
		return;
	log_warn(table->attr.log,
		 "%s: pid %ld is stuck inside a write to an object whose loan "
		 "is revoked: killing it, because other clients wait for the "
		 "object",
		 ses->peer, (long)ses->process.pid);
	borrower_process_kill(&ses->process);
}

/* A running process is not killed: it may have left the write by a jump. */
static void kill_stopped(struct loan_table *table, struct object_loan *loan)
{
	const struct borrower_process *p = &loan->ses->process;

	if (loan->killed ||
	    clock_now() - loan->since < LOAN_KILL_MS * CLOCK_NS_PER_MS)
		return;
	pthread_mutex_unlock(&table->lock);
	if (borrower_process_is_stopped(p) && borrower_process_is_killable(p))
		kill_writer(table, loan);
	pthread_mutex_lock(&table->lock);
}

bool object_replace_stuck(struct loan_table *table, struct object_loan *loan)
{
	int rc;

	if (!is_due(loan))
		return false;
	rc = copy_object(table, loan->key);
	if (!rc) {
		log_success(table, loan);
		stuck_writers_complete_object(table, loan->key);
		return true;
	}
	loan->retry_at = clock_after_ms(rc == -EAGAIN ? 1 : RETRY_MS);
	if (rc != -EAGAIN && rc != -ECANCELED) {
		log_failure(table, loan, rc);
		kill_stopped(table, loan);
	}
	return false;
}

/* An object to be replaced. */
struct object_eviction {
	TAILQ_ENTRY(object_eviction) link; /* of pending or deferred */
	UT_hash_handle hh;
	struct object_key key;
	uint64_t session;
	struct loan_session
		*ses; /* it keeps the files for the next process; or NULL */
	bool closed; /* its gate */
	bool deferred;
	struct gate_entry entry;
};
TAILQ_HEAD(eviction_list, object_eviction);

struct loan_evictions {
	uint64_t session[SESSIONS]; /* the last ones */
	uint64_t nsessions;
	struct eviction_list pending;
	struct eviction_list deferred; /* there was no room for the copy */
	atomic_uint ndeferred;
	uint64_t retry_at; /* the deferred ones, clock_now() */
	struct object_eviction *objects; /* both, by handle */
};

/* ---- objects of evicted sessions ---- */

static struct object_eviction *find_object(const struct loan_table *table,
					   struct object_key key)
{
	struct object_eviction *object;

	HASH_FIND(hh, table->evictions->objects, &key, sizeof(key), object);
	return object;
}

bool loan_evictions_has_object(const struct loan_table *table,
			       struct object_key key)
{
	const struct object_eviction *object = find_object(table, key);

	return object && !object->deferred;
}

static void close_gate(struct loan_table *table, struct object_eviction *object)
{
	if (object->closed)
		return;
	object->closed = true;
	write_hold_add(table, object->key);
	gate_enter_late(store_gate(table->attr.store), object->key, 1,
			&object->entry);
}

static void open_gate(struct loan_table *table, struct object_eviction *object)
{
	if (!object->closed)
		return;
	object->closed = false;
	write_hold_remove(table, object->key);
	gate_leave(store_gate(table->attr.store), &object->entry);
}

static struct object_eviction *
create_object(struct loan_table *table, uint64_t session, struct object_key key)
{
	struct loan_evictions *ev = table->evictions;
	struct object_eviction *object = calloc(1, sizeof(*object));

	if (!object)
		return NULL;
	object->key = key;
	object->session = session;
	HASH_ADD(hh, ev->objects, key, sizeof(object->key), object);
	if (!object->hh.tbl) {
		free(object);
		return NULL;
	}
	object->ses = loan_session_find(table, session);
	if (object->ses)
		object->ses->evictions++;
	TAILQ_INSERT_TAIL(&ev->pending, object, link);
	return object;
}

static void unlink_object(struct loan_evictions *ev,
			  struct object_eviction *object)
{
	if (object->deferred) {
		TAILQ_REMOVE(&ev->deferred, object, link);
		atomic_fetch_sub(&ev->ndeferred, 1);
	} else {
		TAILQ_REMOVE(&ev->pending, object, link);
	}
}

static void free_object(struct loan_table *table,
			struct object_eviction *object,
			loan_session_end_fn *end)
{
	struct loan_session *ses = object->ses;

	unlink_object(table->evictions, object);
	HASH_DELETE(hh, table->evictions->objects, object);
	open_gate(table, object);
	if (ses)
		ses->evictions--;
	if (ses && loan_session_is_over(ses))
		end(table, ses);
	free(object);
}

/* Clients can use the object until the next attempt. */
static void defer_object(struct loan_table *table,
			 struct object_eviction *object)
{
	struct loan_evictions *ev = table->evictions;

	open_gate(table, object);
	unlink_object(ev, object);
	object->deferred = true;
	TAILQ_INSERT_TAIL(&ev->deferred, object, link);
	atomic_fetch_add(&ev->ndeferred, 1);
	ev->retry_at = clock_after_ms(DEFER_MS);
}

/* ---- sessions ---- */

/* An object that was lent for reading stays open until its turn: nobody can change it. */
static void add_object(void *arg, uint64_t session, struct object_key key,
		       bool write)
{
	struct loan_table *table = arg;
	struct object_eviction *object = find_object(table, key);

	if (!object)
		object = create_object(table, session, key);
	if (object && object->session == session)
		loan_history_evict(table->history, session, key);
	if (!object)
		log_error(
			table->attr.log,
			"no memory to replace object %s, which was lent to "
			"an evicted session: end its program, or copy the file "
			"and remove it",
			object_key_text(key).s);
	else if (write && !object->deferred)
		close_gate(table, object);
}

static void add_session(struct loan_table *table, uint64_t session)
{
	const struct loan_session *ses = loan_session_find(table, session);

	for (uint32_t i = 0; ses && i < LOAN_PAGE_OBJECTS; i++)
		if (ses->loan[i].number)
			add_object(table, session, ses->loan[i].key,
				   ses->loan[i].write);
	loan_history_visit(table->history, session, add_object, table);
}

void loan_evictions_resume(struct loan_table *table)
{
	loan_history_visit_evicted(table->history, add_object, table);
}

bool loan_session_is_evicted(const struct loan_table *table, uint64_t session)
{
	for (uint32_t i = 0; i < SESSIONS; i++)
		if (table->evictions->session[i] == session)
			return true;
	return false;
}

/*
 * Records the session, so that loan_table_lend() refuses it.  A worker that does not yet know
 * the fence may still ask for a loan.  Does nothing for a recorded session, because FENCE may
 * be repeated.
 */
static void evict_session(struct loan_table *table, uint64_t session)
{
	struct loan_evictions *ev = table->evictions;

	if (loan_session_is_evicted(table, session))
		return;
	ev->session[ev->nsessions++ % SESSIONS] = session;
	add_session(table, session);
	pthread_cond_signal(&table->changed);
}

/*
 * Nothing to replace in a store on a disk: its objects are lent only for reading, and only to
 * clients that could end this process anyway.
 */
void loan_session_evict(struct loan_table *table, uint64_t session)
{
	if (!store_in_memory(table->attr.store))
		return;
	pthread_mutex_lock(&table->lock);
	evict_session(table, session);
	pthread_mutex_unlock(&table->lock);
}

bool loan_evictions_pending(struct loan_table *table)
{
	bool pending;

	pthread_mutex_lock(&table->lock);
	pending = !TAILQ_EMPTY(&table->evictions->pending);
	pthread_mutex_unlock(&table->lock);
	return pending;
}

unsigned int loan_evictions_deferred(const struct loan_table *table)
{
	return atomic_load(&table->evictions->ndeferred);
}

/* ---- replacing ---- */

static void log_result(const struct loan_table *table,
		       const struct object_eviction *object, int rc)
{
	if (!rc)
		log_info(table->attr.log,
			 "object %s: replaced by a copy, because it was "
			 "lent to evicted session %016llx; no action is needed",
			 object_key_text(object->key).s,
			 (unsigned long long)object->session);
	else if (!object->deferred)
		log_warn(table->attr.log,
			 "object %s: cannot be replaced by a copy: %s; "
			 "until it is replaced, the program of evicted session "
			 "%016llx may keep it open: free some space, end the "
			 "program, or copy the file and remove it",
			 object_key_text(object->key).s, strerror(-rc),
			 (unsigned long long)object->session);
}

/*
 * Replaces the object by a copy.  Returns true if it did.  If it fails, tries the object again
 * later, after the others.
 */
static bool replace_evicted(struct loan_table *table,
			    struct object_eviction *object)
{
	struct eviction_list *pending = &table->evictions->pending;
	int rc;

	close_gate(table, object);
	rc = replace_by_copy(table, object->key);
	if (rc == -ECANCELED) /* this process ends */
		return false;
	if (rc == -EAGAIN && !object->deferred) {
		/* a writer is still inside: try the other pending objects first */
		TAILQ_REMOVE(pending, object, link);
		TAILQ_INSERT_TAIL(pending, object, link);
		return false;
	}
	log_result(table, object, rc);
	if (rc) {
		defer_object(table, object);
	} else {
		loan_history_erase(table->history, object->session,
				   object->key);
		free_object(table, object, loan_session_free);
	}
	return !rc;
}

bool loan_evictions_replace_next(struct loan_table *table)
{
	struct loan_evictions *ev = table->evictions;
	struct object_eviction *object = TAILQ_FIRST(&ev->pending);

	if (object)
		return replace_evicted(table, object);
	object = TAILQ_FIRST(&ev->deferred);
	return object && clock_now() >= ev->retry_at &&
	       replace_evicted(table, object);
}

bool loan_evictions_are_idle(const struct loan_table *table)
{
	const struct loan_evictions *ev = table->evictions;

	return TAILQ_EMPTY(&ev->pending) &&
	       (TAILQ_EMPTY(&ev->deferred) || clock_now() < ev->retry_at);
}

void loan_evictions_wait(struct loan_table *table)
{
	const struct timespec until = clock_timespec(
		table->evictions->retry_at);

	if (TAILQ_EMPTY(&table->evictions->deferred))
		pthread_cond_wait(&table->changed, &table->lock);
	else
		pthread_cond_timedwait(&table->changed, &table->lock, &until);
}

/* ---- opening and closing ---- */

int loan_evictions_open(struct loan_table *table)
{
	struct loan_evictions *ev = calloc(1, sizeof(*ev));

	if (!ev)
		return -ENOMEM;
	TAILQ_INIT(&ev->pending);
	TAILQ_INIT(&ev->deferred);
	table->evictions = ev;
	return 0;
}

/*
 * Frees the objects of the list without replacing them, because this process ends.  The next iod
 * process replaces them.
 */
static void abandon_objects(struct loan_table *table,
			    struct eviction_list *list)
{
	struct object_eviction *object;

	while ((object = TAILQ_FIRST(list))) {
		if (object->ses)
			object->ses->keep_files = true;
		free_object(table, object, loan_session_abandon);
	}
}

void loan_evictions_close(struct loan_table *table)
{
	if (!table->evictions)
		return;
	abandon_objects(table, &table->evictions->pending);
	abandon_objects(table, &table->evictions->deferred);
	free(table->evictions);
	table->evictions = NULL;
}
