/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.h - all that stat(2) tells of a file. */
#ifndef STAT_H
#define STAT_H

#include <sys/stat.h>

#include "client/lib/names/end_reads.h"
#include "client/lib/names/mgr.h"

/* arg: struct stat *.  A target_op; asks the iods only if the mgr does not
 * know the size. */
int stat_get(struct session *s, const struct target *t, void *arg);
/* The same of an open file; arg: struct stat_open *.  Its end is read where that can be. */
struct stat_open {
	struct end_reads *reads;
	struct stat *st;
};
int stat_get_open(struct session *s, const struct target *t, void *arg);
/* The same of attributes that the mgr gave just now. */
int stat_of(struct session *s, const struct attr *attr, struct stat *st);

/* ns since the epoch. */
struct timespec stat_time(int64_t ns);
int64_t stat_ns(const struct timespec *ts);

#endif
