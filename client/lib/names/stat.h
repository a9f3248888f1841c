/* SPDX-License-Identifier: BSD-2-Clause */
/* stat.h - all attributes that stat(2) returns. */
#ifndef STAT_H
#define STAT_H

#include <sys/stat.h>

#include "client/lib/names/end_reads.h"
#include "client/lib/names/mgr_requests.h"

/* A target_op; arg: struct stat *. Asks the iods only if the manager does not know the size. */
int stat_get(struct session *s, const struct target *t, void *arg);
/* stat_get() of an open file; arg: struct stat_open *.  Reads the size by RDMA if possible. */
struct stat_open {
	struct end_reads *reads;
	struct stat *st;
};
int stat_get_open(struct session *s, const struct target *t, void *arg);
/* stat_get() with attr, which the manager has just returned. */
int stat_of(struct session *s, const struct attr *attr, struct stat *st);

/* Convert times: ns since the epoch. */
struct timespec stat_time(int64_t ns);
int64_t stat_ns(const struct timespec *ts);

#endif
