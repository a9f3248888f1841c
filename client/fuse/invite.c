/* SPDX-License-Identifier: BSD-2-Clause */
/* invite.c - see invite.h. */
#include "client/fuse/invite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/fuse/bypass_page.h"

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

static int page_fill(const struct fsd *d, const struct options *opt,
		     struct shortcut_page *page)
{
	int rc = copy_text(page->what, sizeof(page->what), opt->what);

	if (!rc)
		rc = copy_text(page->options, sizeof(page->options), opt->pvfs);
	if (!rc && *opt->what == '/')
		rc = page_set_tab(d->fs.mount, page);
	page->timeout_ms = d->fs.mount->timeout_ms;
	page->fsid = d->fs.fsid;
	page->magic = SHORTCUT_MAGIC;
	return rc;
}

struct bypass_page *invite(const struct fsd *d, const struct options *opt)
{
	struct bypass_page *m;

	if (d->cache != CACHE_NONE || d->attr_timeout > 0)
		return NULL;
	m = bypass_page_new(d->log);
	if (m && page_fill(d, opt, marks_page(m))) {
		bypass_page_free(m);
		return NULL;
	}
	return m;
}
