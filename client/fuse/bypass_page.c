/* SPDX-License-Identifier: BSD-2-Clause */
/* bypass_page.c - see bypass_page.h. */
#include "client/fuse/bypass_page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/fuse/daemon/runfile.h"
#include "client/fuse/options.h"
#include "client/preload/shortcut.h"
#include "common/util/hash_table.h"

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
	       "programs get the path");

static struct bypass_page *bypass_page_map(const struct log *log)
{
	struct bypass_page *b = calloc(1, sizeof(*b));
	int rc;

	if (!b)
		return NULL;
	runfile_visit_stale(NAME, sizeof(*b->page), NULL, NULL);
	rc = runfile_make(&b->file, NAME, sizeof(*b->page), 0444);
	if (rc) {
		log_warn(log, "%s: %s: no program bypasses the mount",
			 b->file.path, strerror(-rc));
		free(b);
		return NULL;
	}
	b->page = b->file.page;
	pthread_mutex_init(&b->lock, NULL);
	return b;
}

void bypass_page_free(struct bypass_page *b)
{
	struct bypass_mark *e, *next;

	if (!b)
		return;
	HASH_ITER(hh, b->all, e, next) {
		HASH_DEL(b->all, e);
		free(e);
	}
	runfile_free(&b->file);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

/* ---- the shared page ---- */

static int copy_text(char *to, size_t len, const char *text)
{
	return snprintf(to, len, "%s", text) < (int)len ? 0 : -ENAMETOOLONG;
}

/* Sets page->tab to the pvfstab of the mount; m->where is "FILE:LINE". */
static int page_set_tab(const struct mount *m, struct shortcut_page *page)
{
	char *file = strdup(m->where), *line, *path;
	int rc;

	line = file ? strrchr(file, ':') : NULL;
	if (line)
		*line = 0;
	path = line ? realpath(file, NULL) : NULL;
	rc = path ? copy_text(page->tab, sizeof(page->tab), path) : -ENOENT;
	free(path);
	free(file);
	return rc;
}

/* Called before the mount exists. */
static int page_fill(const struct fuse_daemon *d, const struct options *opt,
		     struct shortcut_page *page)
{
	int rc = copy_text(page->what, sizeof(page->what), opt->source);

	if (!rc)
		rc = copy_text(page->options, sizeof(page->options),
			       opt->pvfs_options);
	if (!rc && *opt->source == '/')
		rc = page_set_tab(d->fs.mount, page);
	page->timeout_ms = d->fs.mount->timeout_ms;
	page->fsid = d->fs.fsid;
	page->magic = SHORTCUT_MAGIC;
	return rc;
}

struct bypass_page *bypass_page_new(const struct fuse_daemon *d,
				    const struct options *opt)
{
	struct bypass_page *b;

	if (d->cache != CACHE_NONE || d->attr_timeout > 0)
		return NULL;
	b = bypass_page_map(d->log);
	if (b && page_fill(d, opt, b->page)) {
		bypass_page_free(b);
		return NULL;
	}
	return b;
}

const char *bypass_page_path(const struct bypass_page *b)
{
	return b->file.path;
}

/* ---- marks ---- */

static struct bypass_mark *mark_find(struct bypass_page *b, uint64_t handle)
{
	struct bypass_mark *e;

	HASH_FIND(hh, b->all, &handle, sizeof(handle), e);
	return e;
}

/*
 * Sequentially consistent, because programs read the mark without a lock (fuse_mount_is_marked()).
 */
static void mark_count(struct bypass_page *b, uint64_t handle, uint32_t by)
{
	__atomic_add_fetch(&b->page->mark[shortcut_slot(handle)], by,
			   __ATOMIC_SEQ_CST);
}

static void mark_record(struct bypass_page *b, uint64_t handle)
{
	struct bypass_mark *e = calloc(1, sizeof(*e));

	if (!e)
		return;
	e->handle = handle;
	HASH_ADD(hh, b->all, handle, sizeof(e->handle), e);
	if (!e->hh.tbl)
		free(e);
}

void bypass_page_forbid(struct bypass_page *b, uint64_t handle)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	if (!mark_find(b, handle)) {
		mark_record(b, handle);
		mark_count(b, handle, 1);
	}
	pthread_mutex_unlock(&b->lock);
}

bool bypass_page_is_forbidden(struct bypass_page *b, uint64_t handle)
{
	return __atomic_load_n(&b->page->mark[shortcut_slot(handle)],
			       __ATOMIC_SEQ_CST);
}

/*
 * This does not race with a program that opens the file now: the file is in the list of open
 * files before its first page is marked.
 */
void bypass_page_release(struct bypass_page *b, struct fs *fs, uint64_t handle)
{
	struct bypass_mark *e;

	if (!b || !bypass_page_is_forbidden(b, handle))
		return;
	pthread_mutex_lock(&b->lock);
	e = mark_find(b, handle);
	if (e && !file_is_open(fs, handle)) {
		HASH_DEL(b->all, e);
		free(e);
		mark_count(b, handle, (uint32_t)-1);
	}
	pthread_mutex_unlock(&b->lock);
}
