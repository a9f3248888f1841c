/* SPDX-License-Identifier: BSD-2-Clause */
/* api_counter.c - counters of a file, and of transfers. */
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

/* Gets the session of fd's file system, with a reference.  -EFAULT: out is NULL; -ENOTTY. */
static int session_of(int fd, const void *out, struct session **s)
{
	struct file *f = process_file(fd);
	int rc = out ? -ENOTTY : -EFAULT;

	if (out && f && f->fs)
		rc = fs_session(f->fs, s);
	if (f)
		file_put(f);
	return rc;
}

int pvfs_list_counters(int fd, struct pvfs_list_counters *counters)
{
	struct session *s;
	int rc = session_of(fd, counters, &s);

	if (rc)
		return api_int(rc);
	*counters = (struct pvfs_list_counters){
		.requests = atomic_load(&s->count.requests),
		.packed = atomic_load(&s->count.packed),
		.placed = atomic_load(&s->count.placed),
		.registrations = atomic_load(&s->count.registrations),
	};
	session_put(s);
	return 0;
}

int pvfs_way_counters(int fd, struct pvfs_way_counters *counters)
{
	struct rpc_payload_counts ways;
	struct session *s;
	int rc = session_of(fd, counters, &s);

	if (rc)
		return api_int(rc);
	rpc_ctx_payload_counts(s->drive.ctx, &ways);
	*counters = (struct pvfs_way_counters){
		.in_message = ways.inlined,
		.fast_rdma = ways.fast,
		.by_server = ways.direct,
		.unanswered = ways.whole,
		.without = atomic_load(&s->count.borrowed),
	};
	session_put(s);
	return 0;
}
