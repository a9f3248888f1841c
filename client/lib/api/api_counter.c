/* SPDX-License-Identifier: BSD-2-Clause */
/* api_counter.c - counters of a file. */
#include <errno.h>
#include <fcntl.h>

#include "client/lib/api/api_int.h"
#include "client/lib/rw/rw.h"

static int counter_run(int fd, unsigned int counter, bool set, int64_t value,
		       int64_t *old)
{
	struct file *f = api_file(fd);
	uint64_t begun;
	int rc;

	if (!f)
		return api_int(fcntl(fd, F_GETFD) < 0 ? -EBADF : -ENOTTY);
	begun = profile_start();
	rc = api_counted(PROFILE_META, f->profile, begun,
			 rw_counter(f, counter, set, value, old));
	file_put(f);
	return api_int(rc);
}

int pvfs_fetch_add(int fd, unsigned int counter, int64_t add, int64_t *old)
{
	return counter_run(fd, counter, false, add, old);
}

int pvfs_counter_set(int fd, unsigned int counter, int64_t value, int64_t *old)
{
	return counter_run(fd, counter, true, value, old);
}
