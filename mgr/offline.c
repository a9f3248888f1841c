/* SPDX-License-Identifier: BSD-2-Clause */
/* offline.c - opens the storage folder of a manager that does not run. */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mgr/offline_int.h"
#include "common/util/stamp.h"

/* stamp_open() would make a new store in a folder without a stamp. */
static int open_stamped(const struct mgr_conf *conf, const struct log *log)
{
	struct stamp stamp = { conf->fsid, "mgr", 0 };
	char path[sizeof(conf->storage) + sizeof("/" STAMP_FILE)];
	int rc;

	snprintf(path, sizeof(path), "%s/%s", conf->storage, STAMP_FILE);
	if (!access(path, F_OK))
		return stamp_open(conf->storage, &stamp, log);
	rc = -errno;
	log_error(log,
		  "no database in storage %s: %s: %s; is its file system "
		  "mounted?",
		  conf->storage, path, strerror(-rc));
	return rc;
}

/* Files that are written or made must belong to the user of the daemon. */
static int become_owner(int dirfd, const struct mgr_conf *conf,
			const struct log *log)
{
	struct stat st;
	int rc;

	if (geteuid() || fstatat(dirfd, "db", &st, 0) || !st.st_uid)
		return 0;
	if (!setgroups(1, &st.st_gid) && !setgid(st.st_gid) &&
	    !setuid(st.st_uid))
		return 0;
	rc = -errno;
	log_error(log,
		  "cannot go on as uid %u, the owner of %s/db: %s; run this as "
		  "that user",
		  st.st_uid, conf->storage, strerror(-rc));
	return rc;
}

int offline_open(const struct mgr_conf *conf, const struct log *log)
{
	int dirfd = open_stamped(conf, log), rc;

	if (dirfd < 0)
		return dirfd;
	rc = become_owner(dirfd, conf, log);
	if (!rc)
		return dirfd;
	close(dirfd);
	return rc;
}
