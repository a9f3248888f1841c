/* SPDX-License-Identifier: BSD-2-Clause */
/* lend_old.c - what the process before had lent when it ended. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "lend_int.h"

static bool left(const struct lend_files *f, const struct lend_process *p)
{
	return !lend_inside(f, LENT_OBJECTS) || lend_process_ended(p);
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

/* A process that began at another time only has the number. */
static int end_one(struct lends *lends, const struct lend_files *f)
{
	struct lend_process p;
	int rc = 0;

	lend_terms_clear(f->terms);
	if (lend_process_open((pid_t)f->terms->pid, &p))
		return 0;
	if (p.began == f->terms->began)
		rc = get_out(lends, f, &p);
	lend_process_close(&p);
	return rc;
}

static int end_named(struct lends *lends, const char *name)
{
	struct lend_files f;
	uint64_t session;
	int rc = lend_files_find(lends->dirfd, name, &f);

	if (rc)
		return unlinkat(lends->dirfd, name, 0) ? -errno : 0;
	session = f.terms->session;
	rc = end_one(lends, &f);
	lend_files_close(&f);
	if (!rc)
		lend_files_remove(lends->dirfd, session);
	return rc;
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
