/* SPDX-License-Identifier: BSD-2-Clause */
/* runfile.c - see runfile.h. */
#include "client/fuse/daemon/runfile.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *runfile_dir(void)
{
	const char *dir = geteuid() ? secure_getenv("XDG_RUNTIME_DIR") : "/run";

	if (dir && *dir == '/' && strlen(dir) < RUNFILE_PATH - 32 &&
	    !access(dir, W_OK))
		return dir;
	return "/tmp";
}

/*
 * The file gets its size after the lock, because runfile_visit_stale() skips files of another
 * size.
 */
static int make_file(struct runfile *r, const char *name, mode_t mode)
{
	int rc = 0;

	snprintf(r->path, sizeof(r->path), "%s/%s.XXXXXX", runfile_dir(), name);
	r->fd = mkostemp(r->path, O_CLOEXEC);
	if (r->fd < 0)
		return -errno;
	if (flock(r->fd, LOCK_EX | LOCK_NB) || fchmod(r->fd, mode) ||
	    ftruncate(r->fd, (off_t)r->size))
		rc = -errno;
	return rc;
}

int runfile_make(struct runfile *r, const char *name, size_t size, mode_t mode)
{
	int rc;

	*r = (struct runfile){ .fd = -1, .size = size };
	rc = make_file(r, name, mode);
	if (!rc) {
		r->page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			       r->fd, 0);
		if (r->page != MAP_FAILED)
			return 0;
		rc = -errno;
	}
	r->page = NULL;
	runfile_free(r);
	return rc;
}

void runfile_free(struct runfile *r)
{
	if (r->fd < 0)
		return;
	if (r->page)
		munmap(r->page, r->size);
	unlink(r->path);
	close(r->fd);
	r->fd = -1;
}

static bool is_stale(int fd, size_t size)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       st.st_uid == geteuid() && st.st_size == (off_t)size &&
	       !flock(fd, LOCK_EX | LOCK_NB);
}

static bool visit_file(int fd, size_t size,
		       bool (*done)(void *arg, const void *page), void *arg)
{
	void *page = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	bool is = page != MAP_FAILED && done(arg, page);

	if (page != MAP_FAILED)
		munmap(page, size);
	return is;
}

void runfile_visit_stale(const char *name, size_t size,
			 bool (*done)(void *arg, const void *page), void *arg)
{
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/%s.??????", runfile_dir(), name);
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		int fd = open(found.gl_pathv[i],
			      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

		if (fd < 0)
			continue;
		if (is_stale(fd, size) &&
		    (!done || visit_file(fd, size, done, arg)))
			unlink(found.gl_pathv[i]);
		close(fd);
	}
	globfree(&found);
}
