/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c - pvfs-mgr --check: is the data base whole? */
#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mgr.h"
#include "stamp.h"
#include "store.h"

/* To open a folder without a stamp would make a store of it. */
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
		  "nothing to check in storage %s: %s: %s; is its file system "
		  "mounted?",
		  conf->storage, path, strerror(-rc));
	return rc;
}

/*
 * What recovery writes and makes belongs to the daemon, whoever checks:
 * root goes on as the owner of the data base.
 */
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
		  "cannot go on as uid %u, the owner of %s/db: %s; run "
		  "--check as that user",
		  st.st_uid, conf->storage, strerror(-rc));
	return rc;
}

int mgr_check(const struct mgr_conf *conf, const struct log *log)
{
	struct store_attr attr = { .dir = conf->storage,
				   .cache_size = conf->cache_size,
				   .log = log };
	int dirfd = open_stamped(conf, log), rc;

	if (dirfd < 0)
		return dirfd;
	rc = become_owner(dirfd, conf, log);
	if (rc) {
		close(dirfd);
		return rc;
	}
	rc = store_check(&attr);
	if (rc == -ENOSPC)
		log_error(log, "the data base in %s was not looked at",
			  conf->storage);
	else if (rc)
		log_error(log,
			  "the data base in %s is not whole: restore the "
			  "folder from a backup",
			  conf->storage);
	else
		log_always(log, "the data base in %s is whole", conf->storage);
	close(dirfd);
	return rc;
}
