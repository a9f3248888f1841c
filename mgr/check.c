/* SPDX-License-Identifier: BSD-2-Clause */
/* check.c - pvfs-mgr --check: checks that the database is intact. */
#include <errno.h>
#include <unistd.h>

#include "mgr/offline_int.h"
#include "mgr/db/store.h"

int mgr_check(const struct mgr_conf *conf, const struct log *log)
{
	struct store_attr attr = { .dir = conf->storage,
				   .cache_size = conf->cache_size,
				   .log = log };
	int dirfd = offline_open(conf, log), rc;

	if (dirfd < 0)
		return dirfd;
	rc = store_check(&attr);
	if (rc == -ENOSPC)
		log_error(log, "the database in %s was not looked at",
			  conf->storage);
	else if (rc)
		log_error(log,
			  "the database in %s is not whole: restore the "
			  "folder from a backup, then pvfs-mgr --restore",
			  conf->storage);
	else
		log_always(log, "the database in %s is whole", conf->storage);
	close(dirfd);
	return rc;
}
