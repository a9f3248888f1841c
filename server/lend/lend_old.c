/* SPDX-License-Identifier: BSD-2-Clause */
/* lend_old.c - what the process before had lent when it ended. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "server/lend/lend_int.h"

/* Those who look again are waited for by the watcher, later. */
static bool left(const struct lend_files *f, const struct lend_process *p)
{
	bool marked[LENT_OBJECTS];
	uint32_t i;

	lend_marked(f, marked);
	for (i = 0; i < LENT_OBJECTS; i++)
		if (marked[i] && lend_kind_of(f, i) == LEND_WAITS)
			return lend_process_ended(p);
	return true;
}

static bool left_within(const struct lend_files *f,
			const struct lend_process *p, unsigned int ms)
{
	const struct timespec soon = { .tv_nsec = 1000000 };
	uint64_t late = clock_after_ms(ms);

	while (!left(f, p)) {
		if (clock_now() > late)
			return false;
		nanosleep(&soon, NULL);
	}
	return true;
}

static int get_out(struct lends *lends, const struct lend_files *f,
		   const struct lend_process *p)
{
	if (left_within(f, p, LEND_STUCK_MS) ||
	    !lend_process_maps(p, f->marks_fd))
		return 0;
	log_warn(lends->attr.log,
		 "pid %ld stands still in the middle of a write to an object "
		 "that the iod before lent it: it is killed",
		 (long)p->pid);
	lend_process_kill(p);
	if (left_within(f, p, LEND_GONE_MS))
		return 0;
	log_error(lends->attr.log,
		  "pid %ld stands still in the middle of a write to storage "
		  "%s, and cannot be ended from here: end it and start again",
		  (long)p->pid, lends->attr.dir);
	return -EBUSY;
}

/* Nothing is lent any more; who is inside, and looks again, sees it. */
static void take_all(const struct lend_files *f)
{
	uint32_t i;

	for (i = 0; i < LENT_OBJECTS; i++)
		if (lend_kind_of(f, i) == LEND_LOOKS)
			atomic_store(&f->terms->lent.word[i], LENT_ASIDE);
	lend_terms_clear(&f->terms->lent);
}

static void watch_marked(struct lends *lends, struct lend_session *ses)
{
	bool marked[LENT_OBJECTS];
	struct loan *loan;
	uint32_t i;

	lend_marked(&ses->files, marked);
	for (i = 0; i < LENT_OBJECTS; i++) {
		if (!marked[i] || lend_kind_of(&ses->files, i) != LEND_LOOKS)
			continue;
		loan = &ses->loan[i];
		loan->ses = ses;
		loan->handle = atomic_load(&ses->files.terms->handle[i]);
		loan->write = loan->looks = true;
		lend_watch(lends, loan);
	}
}

/*
 * Objects in the middle of which somebody is who looks again stay shut, all others need not
 * wait for that.  On success p and f are the session's, and go with it.
 */
static int adopt(struct lends *lends, struct lend_files *f,
		 struct lend_process *p)
{
	struct lend_session *ses = calloc(1, sizeof(*ses));

	if (!ses)
		return -ENOMEM;
	ses->id = f->terms->lent.session;
	ses->process = *p;
	ses->files = *f;
	ses->ended = true;
	snprintf(ses->peer, sizeof(ses->peer), "client of the iod before");
	watch_marked(lends, ses);
	if (lend_session_over(ses))
		lend_session_free(lends, ses);
	return 0;
}

static int end_files(struct lends *lends, struct lend_files *f)
{
	lend_files_remove(lends->dirfd, f, f->terms->lent.session);
	lend_files_close(f);
	return 0;
}

/* Its session may be evicted yet, or was when that process ended. */
static void remember(struct lends *lends, const struct lend_files *f)
{
	uint64_t handle;

	for (uint32_t i = 0; !f->old && i < LENT_OBJECTS; i++) {
		handle = atomic_load(&f->terms->handle[i]);
		if (handle)
			lend_had(lends, f->terms->lent.session, handle, true);
	}
}

/* A process that began at another time only has the number. */
static int end_one(struct lends *lends, struct lend_files *f)
{
	struct lend_process p;
	int rc;

	take_all(f);
	remember(lends, f);
	if (lend_process_open((pid_t)f->terms->lent.pid, &p))
		return end_files(lends, f);
	if (p.began != f->terms->lent.began) {
		lend_process_close(&p);
		return end_files(lends, f);
	}
	rc = get_out(lends, f, &p);
	if (!rc)
		rc = adopt(lends, f, &p);
	if (rc) {
		lend_files_close(f);
		lend_process_close(&p);
	}
	return rc;
}

static int end_named(struct lends *lends, const char *name)
{
	struct lend_files f;
	int rc = lend_files_find(lends->dirfd, name, &f);

	if (rc)
		return unlinkat(lends->dirfd, name, 0) ? -errno : 0;
	return end_one(lends, &f);
}

static bool is_terms(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".terms");
}

/* Marks without terms were made, and not lent yet. */
static int end_entry(struct lends *lends, const char *name, bool terms)
{
	if (name[0] == '.' || is_terms(name) != terms)
		return 0;
	if (terms)
		return end_named(lends, name);
	return unlinkat(lends->dirfd, name, 0) && errno != ENOENT ? -errno : 0;
}

static int pass(struct lends *lends, bool terms)
{
	struct dirent *de;
	int rc = 0, fd = dup(lends->dirfd);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rewinddir(dir);
	while (!rc && (de = readdir(dir)))
		rc = end_entry(lends, de->d_name, terms);
	closedir(dir);
	return rc;
}

int lend_old(struct lends *lends)
{
	int rc = pass(lends, true);

	return rc ? rc : pass(lends, false);
}
