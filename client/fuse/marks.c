/* SPDX-License-Identifier: BSD-2-Clause */
/* marks.c - see marks.h. */
#include "common/util/hash_table.h"
#include "client/fuse/marks.h"

#include <stdlib.h>
#include <string.h>

#include "client/fuse/life/runfile.h"

#define NAME "pvfs-fuse"

struct entry {
	uint64_t handle;
	UT_hash_handle hh;
};

struct marks {
	pthread_mutex_t lock;
	struct entry *all;
	struct runfile file;
	struct shortcut_page *page; /* mapped from file */
};
_Static_assert(RUNFILE_PATH <= sizeof(((struct shortcut_where *)0)->path),
	       "programs are told the path");

struct marks *marks_new(const struct log *log)
{
	struct marks *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return NULL;
	runfile_left(NAME, sizeof(*m->page), NULL, NULL);
	rc = runfile_make(&m->file, NAME, sizeof(*m->page), 0444);
	if (rc) {
		log_warn(log, "%s: %s: no program goes past the mount",
			 m->file.path, strerror(-rc));
		free(m);
		return NULL;
	}
	m->page = m->file.page;
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
	runfile_free(&m->file);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

struct shortcut_page *marks_page(struct marks *m)
{
	return m->page;
}

const char *marks_path(const struct marks *m)
{
	return m->file.path;
}

/* ---- marks ---- */

static struct entry *find(struct marks *m, uint64_t handle)
{
	struct entry *e;

	HASH_FIND(hh, m->all, &handle, sizeof(handle), e);
	return e;
}

/* Programs read the mark without a lock; their code orders its side to match. */
static void count(struct marks *m, uint64_t handle, uint32_t by)
{
	__atomic_add_fetch(&m->page->mark[shortcut_slot(handle)], by,
			   __ATOMIC_SEQ_CST);
}

/* A file that cannot be recorded stays marked permanently, which only costs time. */
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

void marks_set(struct marks *m, uint64_t handle)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	if (!find(m, handle)) {
		note(m, handle);
		count(m, handle, 1);
	}
	pthread_mutex_unlock(&m->lock);
}

bool marks_is(struct marks *m, uint64_t handle)
{
	return __atomic_load_n(&m->page->mark[shortcut_slot(handle)],
			       __ATOMIC_SEQ_CST);
}

/*
 * A program that has opened the file since is in the list of open files before its
 * first page is marked.
 */
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
