/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_table.c - the loans of all sessions: opening, closing, lending; and the watcher thread.  The
 * watcher sleeps until a writer is stuck or a session is evicted.  Then it checks each millisecond
 * whether the writers have left, and replaces objects.
 *
 * The watcher is also the owner of the gate: when this process ends, the kernel clears the owner
 * word, and clients see that no process can revoke their loans any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/quiet_thread.h"
#include "server/lend/loan_table_int.h"

#define STACK (64u << 10)
#define CHECK_NS 1000000

/* ---- the watcher ---- */

struct loan_watcher {
	pthread_t thread;
	bool running;
	/* the kernel walks this list when the thread ends */
	struct robust_list_head robust;
	struct robust_list owner;
};

/* The thread has no other robust mutexes, so it does not need libc's list of them. */
static void own_gate(struct loan_table *table)
{
	_Atomic uint32_t *owner = gate_owner(store_gate(table->attr.store));
	struct loan_watcher *watcher = table->watcher;
	struct robust_list_head *head = &watcher->robust;

	watcher->owner.next = &head->list;
	head->list.next = &watcher->owner;
	head->futex_offset = (char *)owner - (char *)&watcher->owner;
	if (!syscall(SYS_set_robust_list, head, sizeof(*head)))
		atomic_store(owner, (uint32_t)gettid());
	else
		log_error(table->attr.log,
			  "set_robust_list: %s: clients of this host cannot "
			  "use what they borrow; allow that system call",
			  strerror(errno));
}

static void check_stuck_writers(struct loan_table *table)
{
	struct object_loan *loan, *next;

	for (loan = TAILQ_FIRST(&table->stuck); loan; loan = next) {
		bool left = stuck_writer_has_left(table, loan);

		if (!left && object_replace_stuck(table, loan)) {
			next = TAILQ_FIRST(&table->stuck);
			continue;
		}
		next = TAILQ_NEXT(loan, stuck_link);
		if (left)
			stuck_writer_complete(table, loan);
	}
}

static void *watch_loans(void *arg)
{
	const struct timespec pause = { .tv_nsec = CHECK_NS };
	struct loan_table *table = arg;

	own_gate(table);
	pthread_mutex_lock(&table->lock);
	table->watcher->running = true;
	pthread_cond_signal(&table->changed);
	while (!table->stopping) {
		if (TAILQ_EMPTY(&table->stuck) &&
		    loan_evictions_are_idle(table)) {
			loan_evictions_wait(table);
			continue;
		}
		check_stuck_writers(table);
		if (loan_evictions_replace_next(table))
			continue;
		pthread_mutex_unlock(&table->lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&table->lock);
	}
	pthread_mutex_unlock(&table->lock);
	return NULL;
}

static int start_watcher(struct loan_table *table)
{
	struct loan_watcher *watcher = calloc(1, sizeof(*watcher));
	int rc;

	if (!watcher)
		return -ENOMEM;
	table->watcher = watcher;
	rc = quiet_thread(STACK, watch_loans, table, &watcher->thread);
	pthread_mutex_lock(&table->lock);
	while (!rc && !watcher->running)
		pthread_cond_wait(&table->changed, &table->lock);
	pthread_mutex_unlock(&table->lock);
	return rc;
}

/* Ends the thread, if it was started, and abandons the stuck writers. */
static void stop_watcher(struct loan_table *table)
{
	struct object_loan *loan;

	if (table->watcher && table->watcher->running) {
		pthread_mutex_lock(&table->lock);
		table->stopping = true;
		pthread_cond_signal(&table->changed);
		pthread_mutex_unlock(&table->lock);
		pthread_join(table->watcher->thread, NULL);
	}
	while ((loan = TAILQ_FIRST(&table->stuck)))
		stuck_writer_remove(table, loan, loan_session_abandon);
	free(table->watcher);
}

/* ---- opening and closing ---- */

static int open_dir(struct loan_table *table)
{
	int rc, fd = open(table->attr.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	rc = mkdirat(fd, "lent", 0700) && errno != EEXIST ? -errno : 0;
	if (!rc) {
		table->dirfd = openat(fd, "lent",
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		rc = table->dirfd < 0 ? -errno : 0;
	}
	close(fd);
	return rc;
}

static int start_table(struct loan_table *table)
{
	int rc = open_dir(table);

	if (!rc)
		rc = loan_history_open(store_in_memory(table->attr.store)
					       ? table->dirfd
					       : -1,
				       table->attr.log, &table->history);
	if (!rc)
		rc = loan_recovery_run(table);
	if (!rc)
		loan_evictions_resume(table);
	if (!rc)
		rc = start_watcher(table);
	if (rc && rc != -EBUSY)
		log_error(table->attr.log, "cannot use directory %s/lent: %s",
			  table->attr.dir, strerror(-rc));
	return rc;
}

static void init_changed(struct loan_table *table)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&table->changed, &attr);
	pthread_condattr_destroy(&attr);
}

int loan_table_open(const struct loan_table_attr *attr, struct loan_table **out)
{
	struct loan_table *table = calloc(1, sizeof(*table));
	int rc;

	if (!table)
		return -ENOMEM;
	table->attr = *attr;
	table->dirfd = -1;
	atomic_init(&table->next_expiry, UINT64_MAX);
	pthread_mutex_init(&table->lock, NULL);
	init_changed(table);
	TAILQ_INIT(&table->stuck);
	rc = loan_evictions_open(table);
	if (!rc)
		rc = start_table(table);
	if (rc)
		loan_table_close(table);
	else
		*out = table;
	return rc;
}

void loan_table_close(struct loan_table *table)
{
	struct loan_session *ses, *next;

	if (!table)
		return;
	stop_watcher(table);
	loan_evictions_close(table);
	HASH_ITER(hh, table->sessions, ses, next) {
		HASH_DEL(table->sessions, ses);
		loan_session_abandon(table, ses);
	}
	loan_history_close(table->history);
	if (table->dirfd >= 0)
		close(table->dirfd);
	pthread_cond_destroy(&table->changed);
	pthread_mutex_destroy(&table->lock);
	free(table);
}

/* ---- lending ---- */

static struct object_loan *get_unused_loan(struct loan_table *table,
					   struct loan_session *ses)
{
	struct object_loan *loan = loan_find_unused(ses);

	if (loan)
		return loan;
	loan_recall_returned(table, ses);
	return loan_find_unused(ses);
}

static bool may_lend_for_writing(const struct loan_table *table,
				 const struct loan_session *ses,
				 struct object_key key,
				 const struct loan_request *request)
{
	return object_key_is_own(key) && ses->files.named && request->trusted &&
	       !table->attr.reads &&
	       clock_boot() < gate_ends(store_gate(table->attr.store)) &&
	       store_in_memory(table->attr.store);
}

static bool is_stuck(const struct loan_table *table, struct object_key key)
{
	return stuck_writers_has_object(table, key) ||
	       loan_evictions_has_object(table, key);
}

static int check_request(const struct loan_table *table, struct object_key key,
			 const struct object_loan *loan,
			 const struct loan_request *request)
{
	if (request->era != table->era)
		return -ENOKEY;
	if (!request->trusted && !store_in_memory(table->attr.store))
		return -EOPNOTSUPP;
	if (!loan)
		return -ENOSPC;
	return is_stuck(table, key) ? -EBUSY : 0;
}

/* Opens the object for the client, or -errno. */
static int open_object(struct loan_table *table, const struct loan_session *ses,
		       struct store_obj *obj, bool read, bool write)
{
	int rc = loan_history_record(table->history, ses->id,
				     store_obj_key(obj), write);

	return rc ? rc : store_obj_lend(obj, read, write);
}

static int lend_to_session(struct loan_table *table, struct loan_session *ses,
			   struct store_obj *obj,
			   const struct loan_request *request,
			   struct loan_grant *out)
{
	struct object_loan *loan = get_unused_loan(table, ses);
	struct object_key key = store_obj_key(obj);
	bool write = request->write &&
		     may_lend_for_writing(table, ses, key, request);
	int fd, rc = check_request(table, key, loan, request);
	struct stat sb;

	if (rc)
		return rc;
	if (!write && !request->read)
		return -EACCES;
	fd = open_object(table, ses, obj, request->read, write);
	if (fd < 0)
		return fd;
	if (fstat(fd, &sb)) {
		close(fd);
		return -EIO;
	}
	loan_start(table, ses, loan, key, write, request);
	*out = (struct loan_grant){
		.number = loan->number,
		.inode = sb.st_ino,
		.index = loan_index(loan),
		.write = write,
		.clock = ses->process.clock_unknown,
		.fd = fd,
		.page = { gate_page(store_gate(table->attr.store)),
			  ses->files.terms_fd, ses->files.marks_fd },
	};
	return 0;
}

int loan_table_lend(struct loan_table *table, struct store_obj *obj,
		    const struct loan_request *request, struct loan_grant *out)
{
	struct loan_session *ses = NULL;
	int rc;

	pthread_mutex_lock(&table->lock);
	rc = loan_session_is_evicted(table, request->session)
		     ? -ESTALE
		     : loan_session_get(table, request, &ses);
	if (!rc)
		rc = lend_to_session(table, ses, obj, request, out);
	pthread_mutex_unlock(&table->lock);
	return rc;
}

void loan_table_cancel(struct loan_table *table, uint64_t session,
		       const struct loan_grant *grant)
{
	struct loan_session *ses;

	pthread_mutex_lock(&table->lock);
	ses = loan_session_find(table, session);
	if (ses && ses->loan[grant->index].number == grant->number) {
		loan_revoke(table, &ses->loan[grant->index]);
		loan_ignore_mark(&ses->loan[grant->index]);
	}
	pthread_mutex_unlock(&table->lock);
}

/* ---- the state of an object, and of all loans ---- */

#define BUSY_CHECKS 4u /* each reads the page of a session */

static bool has_writer_inside(struct loan_table *table, struct object_key key)
{
	const struct object_loan *loan;
	unsigned int n = 0;

	LIST_FOREACH(loan, loan_bucket(table, key), link)
		if (object_key_equal(loan->key, key) && loan->write &&
		    (++n > BUSY_CHECKS ||
		     loan_files_is_inside(&loan->ses->files, loan_index(loan))))
			return true;
	return is_stuck(table, key);
}

bool loan_object_is_busy(struct loan_table *table, struct object_key key)
{
	bool busy;

	if (!loan_object_has_writer(table, key))
		return false;
	pthread_mutex_lock(&table->lock);
	busy = has_writer_inside(table, key);
	pthread_mutex_unlock(&table->lock);
	return busy;
}

void loan_table_report_usage(struct loan_table *table)
{
	struct loan_session *ses, *next;
	uint64_t now = clock_boot();

	pthread_mutex_lock(&table->lock);
	if (!table->reported_at ||
	    now - table->reported_at >= LOAN_REPORT_MS * CLOCK_NS_PER_MS) {
		table->reported_at = now;
		HASH_ITER(hh, table->sessions, ses, next)
			loan_session_report_usage(table, ses);
	}
	pthread_mutex_unlock(&table->lock);
}

void loan_table_set_lease(struct loan_table *table, uint64_t until)
{
	gate_until(store_gate(table->attr.store), until);
}

unsigned int loan_table_count(const struct loan_table *table)
{
	return atomic_load(&table->count);
}
