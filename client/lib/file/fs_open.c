/* SPDX-License-Identifier: BSD-2-Clause */
/* fs_open.c - opening a session.  A local problem is logged once. */
#include <string.h>

#include "client/lib/file/fs.h"
#include "client/lib/session/client_session.h"

/* Within one mount, the same errno and transport mean the same cause. */
static bool flaw_matches(const struct flaw *flaw, int rc, const char *scheme)
{
	return flaw->rc == rc && !strcmp(flaw->scheme, scheme);
}

static bool flaw_said(struct fs *fs, int rc, const char *scheme)
{
	bool is;

	pthread_mutex_lock(&fs->lock);
	is = flaw_matches(&fs->flaw[0], rc, scheme) ||
	     flaw_matches(&fs->flaw[1], rc, scheme);
	pthread_mutex_unlock(&fs->lock);
	return is;
}

static bool fs_has_flaw(struct fs *fs)
{
	bool is;

	pthread_mutex_lock(&fs->lock);
	is = fs->flaw[0].rc || fs->flaw[1].rc;
	pthread_mutex_unlock(&fs->lock);
	return is;
}

static void flaw_keep(struct fs *fs, const struct session_attr *attr, int rc)
{
	struct flaw *flaw = &fs->flaw[attr->probe];

	pthread_mutex_lock(&fs->lock);
	flaw->rc = rc;
	strcpy(flaw->scheme, attr->addr->scheme);
	pthread_mutex_unlock(&fs->lock);
}

/* session_open() asks no peer, so a first try without a log costs little. */
int fs_session_open(struct fs *fs, const struct session_attr *attr,
		    struct session **out)
{
	static const struct log nowhere;
	struct session_attr silent = *attr;
	bool try = fs_has_flaw(fs);
	int rc;

	silent.log = &nowhere;
	rc = try ? session_open(&silent, out) : 0;
	if (rc && flaw_said(fs, rc, attr->addr->scheme))
		return rc;
	if (try && !rc)
		session_put(*out);
	rc = session_open(attr, out);
	flaw_keep(fs, attr, rc);
	return rc;
}
