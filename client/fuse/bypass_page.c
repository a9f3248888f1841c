/* SPDX-License-Identifier: BSD-2-Clause */
/* bypass_page.c - see bypass_page.h. */
#include "common/util/hash_table.h"
#include "client/fuse/bypass_page.h"

#include <stdlib.h>
#include <string.h>

#include "client/fuse/daemon/runfile.h"

#define NAME "pvfs-fuse"

struct bypass_mark {
	uint64_t handle;
	UT_hash_handle hh;
};

struct bypass_page {
	pthread_mutex_t lock;
	struct bypass_mark *all;
	struct runfile file;
	struct shortcut_page *page; /* mapped from file */
};
_Static_assert(RUNFILE_PATH <= sizeof(((struct shortcut_where *)0)->path),
	       "programs are told the path");

struct bypass_page *bypass_page_new(const struct log *log)
{
	struct bypass_page *m = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return NULL;
	runfile_visit_stale(NAME, sizeof(*m->page), NULL, NULL);
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

void bypass_page_free(struct bypass_page *m)
{
	struct bypass_mark *e, *next;

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

struct shortcut_page *marks_page(struct bypass_page *m)
{
	return m->page;
}

const char *bypass_page_path(const struct bypass_page *m)
{
	return m->file.path;
}

/* ---- marks ---- */

static struct bypass_mark *mark_find(struct bypass_page *m, uint64_t handle)
{
	struct bypass_mark *e;

	HASH_FIND(hh, m->all, &handle, sizeof(handle), e);
	return e;
}

/* Programs read the mark without a lock; their code orders its side to match. */
static void mark_count(struct bypass_page *m, uint64_t handle, uint32_t by)
{
	__atomic_add_fetch(&m->page->mark[shortcut_slot(handle)], by,
			   __ATOMIC_SEQ_CST);
}

/* A file that cannot be recorded stays marked permanently, which only costs time. */
static void mark_record(struct bypass_page *m, uint64_t handle)
{
	struct bypass_mark *e = calloc(1, sizeof(*e));

	if (!e)
		return;
	e->handle = handle;
	HASH_ADD(hh, m->all, handle, sizeof(e->handle), e);
	if (!e->hh.tbl)
		free(e);
}

void bypass_page_forbid(struct bypass_page *m, uint64_t handle)
{
	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	if (!mark_find(m, handle)) {
		mark_record(m, handle);
		mark_count(m, handle, 1);
	}
	pthread_mutex_unlock(&m->lock);
}

bool bypass_page_is_forbidden(struct bypass_page *m, uint64_t handle)
{
	return __atomic_load_n(&m->page->mark[shortcut_slot(handle)],
			       __ATOMIC_SEQ_CST);
}

/*
 * A program that has opened the file since is in the list of open files before its
 * first page is marked.
 */
void bypass_page_release(struct bypass_page *m, struct fs *fs, uint64_t handle)
{
	struct bypass_mark *e;

	if (!m || !bypass_page_is_forbidden(m, handle))
		return;
	pthread_mutex_lock(&m->lock);
	e = mark_find(m, handle);
	if (e && !file_is_open(fs, handle)) {
		HASH_DEL(m->all, e);
		free(e);
		mark_count(m, handle, (uint32_t)-1);
	}
	pthread_mutex_unlock(&m->lock);
}
