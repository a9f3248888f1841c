/* SPDX-License-Identifier: BSD-2-Clause */
/* marks.c - see marks.h. */
#include "hash_table.h"
#include "marks.h"

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

struct entry {
	uint64_t handle;
	UT_hash_handle hh;
};

struct marks {
	pthread_mutex_t lock;
	struct entry *all;
	struct shortcut_page *page;
	int fd; /* of the file, locked */
	char path[sizeof(((struct shortcut_where *)0)->path)];
};

/* ---- the file ---- */

static const char *folder(size_t room)
{
	const char *dir = geteuid() ? secure_getenv("XDG_RUNTIME_DIR") : "/run";

	if (dir && *dir == '/' && strlen(dir) < room && !access(dir, W_OK))
		return dir;
	return "/tmp";
}

/* Daemons that were killed left theirs; who lives holds a lock on it. */
static void take_away(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    st.st_size == sizeof(struct shortcut_page) &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		unlink(path);
	close(fd);
}

static void take_away_old(const char *dir)
{
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/pvfs-fuse.??????", dir);
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		take_away(found.gl_pathv[i]);
	globfree(&found);
}

/* It has its size only when it is locked: nobody takes it away before. */
static int make_file(struct marks *m)
{
	const char *dir = folder(sizeof(m->path) - 32);
	int fd;

	take_away_old(dir);
	snprintf(m->path, sizeof(m->path), "%s/pvfs-fuse.XXXXXX", dir);
	fd = mkostemp(m->path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	flock(fd, LOCK_EX | LOCK_NB);
	if (fchmod(fd, 0444) || ftruncate(fd, sizeof(*m->page))) {
		int rc = -errno;

		unlink(m->path);
		close(fd);
		return rc;
	}
	return fd;
}

static int make_page(struct marks *m)
{
	int fd = make_file(m), rc = 0;
	void *page;

	if (fd < 0)
		return fd;
	page = mmap(NULL, sizeof(*m->page), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	if (page == MAP_FAILED) {
		rc = -errno;
		unlink(m->path);
		close(fd);
		return rc;
	}
	m->page = page;
	m->fd = fd;
	return 0;
}

struct marks *marks_new(const struct log *log)
{
	struct marks *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return NULL;
	rc = make_page(m);
	if (rc) {
		log_warn(log, "%s: %s: no program goes past the mount",
			 *m->path ? m->path : "shared page", strerror(-rc));
		free(m);
		return NULL;
	}
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

void marks_free(struct marks *m)
{
	struct entry *e, *next;

	if (!m)
		return;
	HASH_ITER(hh, m->all, e, next) {
		HASH_DEL(m->all, e);
		free(e);
	}
	unlink(m->path);
	close(m->fd);
	munmap(m->page, sizeof(*m->page));
	pthread_mutex_destroy(&m->lock);
	free(m);
}

struct shortcut_page *marks_page(struct marks *m)
{
	return m->page;
}

const char *marks_path(const struct marks *m)
{
	return m->path;
}

/* ---- marks ---- */

static struct entry *find(struct marks *m, uint64_t handle)
{
	struct entry *e;

	HASH_FIND(hh, m->all, &handle, sizeof(handle), e);
	return e;
}

/* Programs read it without a lock; theirs is the other half of the order. */
static void count(struct marks *m, uint64_t handle, uint32_t by)
{
	__atomic_add_fetch(&m->page->mark[shortcut_slot(handle)], by,
			   __ATOMIC_SEQ_CST);
}

/* One that cannot be noted stays marked for ever, which only costs time. */
static void note(struct marks *m, uint64_t handle)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return;
	e->handle = handle;
	HASH_ADD(hh, m->all, handle, sizeof(e->handle), e);
	if (!e->hh.tbl)
		free(e);
}

void marks_set(struct marks *m, const struct file *f)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	if (!find(m, f->handle)) {
		note(m, f->handle);
		count(m, f->handle, 1);
	}
	pthread_mutex_unlock(&m->lock);
}

bool marks_is(struct marks *m, uint64_t handle)
{
	return __atomic_load_n(&m->page->mark[shortcut_slot(handle)],
			       __ATOMIC_SEQ_CST);
}

/* Who opened it since is in the list before his first page is marked. */
void marks_released(struct marks *m, struct fs *fs, uint64_t handle)
{
	struct entry *e;

	if (!m || !marks_is(m, handle))
		return;
	pthread_mutex_lock(&m->lock);
	e = find(m, handle);
	if (e && !file_is_open(fs, handle)) {
		HASH_DEL(m->all, e);
		free(e);
		count(m, handle, (uint32_t)-1);
	}
	pthread_mutex_unlock(&m->lock);
}
