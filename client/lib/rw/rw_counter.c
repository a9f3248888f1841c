/* SPDX-License-Identifier: BSD-2-Clause */
/* rw_counter.c - the counters of a file. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "client/lib/names/count.h"
#include "client/lib/rw/rw.h"

static int counter_check(const struct file *f, const struct counter_ask *a)
{
	bool changes = a->set || a->value;

	if (!f->fs)
		return -ENOTTY;
	if (f->type != S_IFREG || a->number >= WIRE_COUNTERS)
		return -EINVAL;
	if (changes && (atomic_load(&f->flags) & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	return 0;
}

int rw_counter(struct file *f, unsigned int number, bool set, int64_t value,
	       int64_t *old)
{
	struct counter_ask a = { .dist = &f->dist,
				 .words = &f->words,
				 .number = number,
				 .set = set,
				 .value = value };
	int rc = counter_check(f, &a);

	if (rc)
		return rc;
	rc = file_run(f, counter_ask, &a);
	if (set || value)
		file_counted(f);
	/* an iod of an earlier release */
	if (rc)
		return rc == -ENOSYS ? -EOPNOTSUPP : rc;
	if (old)
		*old = a.old;
	return 0;
}
