/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c - pvfs-mgr --check: is the data base whole? */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mgr.h"
#include "stamp.h"
#include "store.h"

/* To open a folder without a stamp would make a store of it. */
static int open_stamped(const struct mgr_conf *conf, const struct log *log)
{
	struct stamp stamp = { conf->fsid, "mgr", 0, 0, 0 };
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

int mgr_check(const struct mgr_conf *conf, const struct log *log)
{
	struct store_attr attr = { .dir = conf->storage,
				   .cache_size = conf->cache_size,
				   .log = log };
	int dirfd = open_stamped(conf, log), rc;

	if (dirfd < 0)
		return dirfd;
	rc = store_check(&attr);
	if (rc)
		log_error(log,
			  "the data base in %s is not whole: restore the "
			  "folder from a backup",
			  conf->storage);
	else
		log_always(log, "the data base in %s is whole", conf->storage);
	close(dirfd);
	return rc;
}
