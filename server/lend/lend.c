/* SPDX-License-Identifier: BSD-2-Clause */
/* lend.c - the loans of all sessions, and taking them back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/descriptors.h"
#include "server/lend/lend_int.h"

#define SPARE 1024u /* descriptors for peers and objects */

/* ---- opening and closing ---- */

static int open_dir(struct lends *lends)
{
	int rc, fd = open(lends->attr.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	rc = mkdirat(fd, "lent", 0700) && errno != EEXIST ? -errno : 0;
	if (!rc) {
		lends->dirfd = openat(fd, "lent",
				      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		rc = lends->dirfd < 0 ? -errno : 0;
	}
	close(fd);
	return rc;
}

static int start(struct lends *lends)
{
	int rc = open_dir(lends);

	if (!rc)
		rc = lend_had_open(lends);
	if (!rc)
		rc = lend_old(lends);
	if (!rc)
		lend_evict_again(lends);
	if (!rc)
		rc = lend_watch_start(lends);
	if (rc && rc != -EBUSY)
		log_error(lends->attr.log,
			  "cannot use folder lent of storage %s: %s",
			  lends->attr.dir, strerror(-rc));
	return rc;
}

static void init_changed(struct lends *lends)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&lends->changed, &attr);
	pthread_condattr_destroy(&attr);
}

int lends_open(const struct lends_attr *attr, struct lends **out)
{
	struct lends *lends = calloc(1, sizeof(*lends));
	int rc;

	if (!lends)
		return -ENOMEM;
	lends->attr = *attr;
	lends->dirfd = lends->had_fd = -1;
	atomic_init(&lends->ends, UINT64_MAX);
	pthread_mutex_init(&lends->lock, NULL);
	init_changed(lends);
	TAILQ_INIT(&lends->stuck);
	rc = lend_evict_open(lends);
	if (!rc)
		rc = start(lends);
	if (rc)
		lends_close(lends);
	else
		*out = lends;
	return rc;
}

static void session_close(struct lend_session *ses)
{
	lend_files_close(&ses->files);
	lend_process_close(&ses->process);
	free(ses);
}

/* He has what it was lent, and may yet be evicted. */
void lend_session_leave(struct lends *lends, struct lend_session *ses)
{
	lend_terms_clear(&ses->files.terms->lent);
	if (!ses->stays && lend_process_ended(&ses->process) &&
	    !lend_inside(&ses->files, LENT_OBJECTS))
		lend_files_remove(lends->dirfd, &ses->files, ses->id);
	session_close(ses);
}

void lends_close(struct lends *lends)
{
	struct lend_session *ses, *next;

	if (!lends)
		return;
	lend_watch_stop(lends);
	lend_evict_close(lends);
	HASH_ITER(hh, lends->sessions, ses, next) {
		HASH_DEL(lends->sessions, ses);
		lend_session_leave(lends, ses);
	}
	lend_had_close(lends);
	if (lends->dirfd >= 0)
		close(lends->dirfd);
	pthread_cond_destroy(&lends->changed);
	pthread_mutex_destroy(&lends->lock);
	free(lends);
}

/* ---- sessions.  With the lock, as all below. ---- */

struct lend_session *lend_session_find(struct lends *lends, uint64_t id)
{
	struct lend_session *ses;

	HASH_FIND(hh, lends->sessions, &id, sizeof(id), ses);
	return ses;
}

static int fill(struct lends *lends, struct lend_session *ses,
		const struct lend_ask *ask)
{
	int rc = lend_process_open(ask->pid, &ses->process);

	if (!rc && !lend_process_is(&ses->process, ask->uid))
		rc = -ESRCH;
	/* who does not know that he has to look cannot be asked to */
	if (!rc && ses->process.clock && !ask->looks)
		rc = -ESRCH;
	if (rc)
		return rc;
	/* readers leave nothing to do for the next process */
	rc = lend_files_make(lends->attr.reads || !ask->trusted ? -1
								: lends->dirfd,
			     ask->session, &ses->process, &ses->files);
	if (rc)
		return rc;
	ses->id = ask->session;
	ses->who = ask->who;
	lend_said_begin(&ses->said, clock_boot());
	snprintf(ses->peer, sizeof(ses->peer), "%s", ask->peer);
	HASH_ADD(hh, lends->sessions, id, sizeof(ses->id), ses);
	if (ses->hh.tbl)
		return 0;
	lend_files_remove(lends->dirfd, &ses->files, ask->session);
	return -ENOMEM;
}

static int make(struct lends *lends, const struct lend_ask *ask,
		struct lend_session **out)
{
	struct lend_session *ses;
	int rc;

	if (!atomic_load(gate_owner(store_gate(lends->attr.store))))
		return -EOPNOTSUPP;
	if (HASH_COUNT(lends->sessions) >= LEND_SESSIONS ||
	    descriptors_short(lends->dirfd, SPARE, 0))
		return -EMFILE;
	ses = calloc(1, sizeof(*ses));
	if (!ses)
		return -ENOMEM;
	ses->process.fd = ses->files.terms_fd = ses->files.marks_fd = -1;
	rc = fill(lends, ses, ask);
	if (rc)
		session_close(ses);
	else
		*out = ses;
	return rc;
}

/* One that comes from another process is another one's. */
static int find_or_make(struct lends *lends, const struct lend_ask *ask,
			struct lend_session **out)
{
	struct lend_session *ses = lend_session_find(lends, ask->session);

	if (!ses)
		return make(lends, ask, out);
	if (ses->process.pid != ask->pid)
		return -ESRCH;
	*out = ses;
	return 0;
}

void lend_session_free(struct lends *lends, struct lend_session *ses)
{
	lend_files_remove(lends->dirfd, &ses->files, ses->id);
	session_close(ses);
}

/* ---- loans ---- */

void lend_hold(struct lends *lends, uint64_t handle)
{
	atomic_fetch_add(&lends->held[handle % LEND_BUCKETS], 1);
	store_change_begins(lends->attr.store, handle);
}

void lend_let(struct lends *lends, uint64_t handle)
{
	store_change_ends(lends->attr.store, handle);
	atomic_fetch_sub(&lends->held[handle % LEND_BUCKETS], 1);
}

bool lend_held(const struct lends *lends, uint64_t handle)
{
	return atomic_load(&lends->held[handle % LEND_BUCKETS]);
}

void loan_forget(struct lends *lends, struct loan *loan)
{
	atomic_store(&loan->ses->files.terms->lent.word[loan_index(loan)], 0);
	lend_had(lends, loan->ses->id, loan->handle, loan->write);
	LIST_REMOVE(loan, link);
	loan->number = 0;
	atomic_fetch_sub(&lends->count, 1);
	if (loan->write) {
		atomic_fetch_sub(&lends->writers, 1);
		lend_let(lends, loan->handle);
	}
}

/* A mark that stays, for whatever reason, is no other object's. */
static struct loan *find_free(struct lend_session *ses)
{
	bool marked[LENT_OBJECTS];
	uint32_t i;

	lend_marked(&ses->files, marked);
	for (i = 0; i < LENT_OBJECTS; i++)
		if (!ses->loan[i].number && !ses->loan[i].stuck && !marked[i])
			return &ses->loan[i];
	return NULL;
}

void loan_done(const struct loan *loan)
{
	atomic_store(&loan->ses->files.terms->kind[loan_index(loan)],
		     LEND_NONE);
}

static struct loan *new_loan(struct lends *lends, struct lend_session *ses)
{
	struct loan *loan = find_free(ses);

	if (loan)
		return loan;
	lend_reclaim(lends, ses);
	return find_free(ses);
}

/* Before he can be inside. */
static void keep_kind(const struct loan *loan)
{
	struct lend_terms *terms = loan->ses->files.terms;
	uint32_t i = loan_index(loan);
	uint8_t kind = loan->looks ? LEND_LOOKS : LEND_WAITS;

	atomic_store(&terms->handle[i], loan->handle);
	atomic_store(&terms->kind[i], loan->write ? kind : LEND_NONE);
}

static void lend(struct lends *lends, struct lend_session *ses,
		 struct loan *loan, uint64_t handle, bool write,
		 const struct lend_ask *ask)
{
	loan->ses = ses;
	loan->number = ++lends->number;
	loan->handle = handle;
	loan->write = write;
	loan->looks = ask->looks;
	loan->until = ask->until;
	if (loan->until < atomic_load(&lends->ends))
		atomic_store(&lends->ends, loan->until);
	keep_kind(loan);
	LIST_INSERT_HEAD(loan_bucket(lends, handle), loan, link);
	atomic_fetch_add(&lends->count, 1);
	if (write) {
		atomic_fetch_add(&lends->writers, 1);
		lend_hold(lends, handle);
	}
	atomic_store(&ses->files.terms->lent.word[loan_index(loan)],
		     loan->number);
}

static bool may_write(const struct lends *lends, const struct lend_session *ses,
		      const struct lend_ask *ask)
{
	return ses->files.named && ask->trusted && !lends->attr.reads &&
	       clock_boot() < gate_ends(store_gate(lends->attr.store)) &&
	       store_in_memory(lends->attr.store) &&
	       (ask->looks || lend_process_ours(&ses->process));
}

static int lend_to(struct lends *lends, struct lend_session *ses,
		   struct store_obj *obj, const struct lend_ask *ask,
		   struct lent *out)
{
	struct loan *loan = new_loan(lends, ses);
	bool write = ask->write && may_write(lends, ses, ask);
	struct stat sb;
	int fd;

	if (ask->era != lends->era)
		return -ENOKEY;
	if (!ask->trusted && !store_in_memory(lends->attr.store))
		return -EOPNOTSUPP;
	if (!loan)
		return -ENOSPC;
	if (lend_is_stuck(lends, store_obj_handle(obj)))
		return -EBUSY;
	if (!write && !ask->read)
		return -EACCES;
	fd = lend_has(lends, ses->id, store_obj_handle(obj), write);
	if (!fd)
		fd = store_obj_lend(obj, ask->read, write);
	if (fd < 0)
		return fd;
	if (fstat(fd, &sb)) {
		close(fd);
		return -EIO;
	}
	lend(lends, ses, loan, store_obj_handle(obj), write, ask);
	*out = (struct lent){
		.number = loan->number,
		.inode = sb.st_ino,
		.index = loan_index(loan),
		.write = write,
		.clock = ses->process.clock,
		.fd = fd,
		.page = { gate_page(store_gate(lends->attr.store)),
			  ses->files.terms_fd, ses->files.marks_fd },
	};
	return 0;
}

int lend_object(struct lends *lends, struct store_obj *obj,
		const struct lend_ask *ask, struct lent *out)
{
	struct lend_session *ses = NULL;
	int rc;

	pthread_mutex_lock(&lends->lock);
	rc = lend_is_evicted(lends, ask->session)
		     ? -ESTALE
		     : find_or_make(lends, ask, &ses);
	if (!rc)
		rc = lend_to(lends, ses, obj, ask, out);
	pthread_mutex_unlock(&lends->lock);
	return rc;
}

void lend_cancel(struct lends *lends, uint64_t session, const struct lent *lent)
{
	struct lend_session *ses;

	pthread_mutex_lock(&lends->lock);
	ses = lend_session_find(lends, session);
	if (ses && ses->loan[lent->index].number == lent->number) {
		loan_forget(lends, &ses->loan[lent->index]);
		loan_done(&ses->loan[lent->index]);
	}
	pthread_mutex_unlock(&lends->lock);
}

void lends_until(struct lends *lends, uint64_t until)
{
	gate_until(store_gate(lends->attr.store), until);
}

unsigned int lends_count(const struct lends *lends)
{
	return atomic_load(&lends->count);
}
