/* SPDX-License-Identifier: BSD-2-Clause */
/* invite.c - see invite.h. */
#include "client/fuse/invite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/fuse/marks.h"

static int copy(char *to, size_t len, const char *text)
{
	return snprintf(to, len, "%s", text) < (int)len ? 0 : -ENAMETOOLONG;
}

/* Sets page->tab to the pvfstab of the mount; m->where is "FILE:LINE". */
static int say_tab(const struct mount *m, struct shortcut_page *page)
{
	char *file = strdup(m->where), *line, *path;
	int rc;

	line = file ? strrchr(file, ':') : NULL;
	if (line)
		*line = 0;
	path = line ? realpath(file, NULL) : NULL;
	rc = path ? copy(page->tab, sizeof(page->tab), path) : -ENOENT;
	free(path);
	free(file);
	return rc;
}

static int say(const struct fsd *d, const struct options *opt,
	       struct shortcut_page *page)
{
	int rc = copy(page->what, sizeof(page->what), opt->what);

	if (!rc)
		rc = copy(page->options, sizeof(page->options), opt->pvfs);
	if (!rc && *opt->what == '/')
		rc = say_tab(d->fs.mount, page);
	page->timeout_ms = d->fs.mount->timeout_ms;
	page->fsid = d->fs.fsid;
	page->magic = SHORTCUT_MAGIC;
	return rc;
}

struct marks *invite(const struct fsd *d, const struct options *opt)
{
	struct marks *m;

	if (d->cache != CACHE_NONE || d->attr_timeout > 0)
		return NULL;
	m = marks_new(d->log);
	if (m && say(d, opt, marks_page(m))) {
		marks_free(m);
		return NULL;
	}
	return m;
}
