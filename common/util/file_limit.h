/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_limit.h - for a library's own files, which the program's limit on file sizes (RLIMIT_FSIZE)
 * is not meant for. A write beyond the limit fails with EFBIG; the signal that would kill the
 * program is suppressed.
 */
#ifndef FILE_LIMIT_H
#define FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

struct file_limit {
	sigset_t before;
	bool pending;
};

/* The code between these two calls must not end the thread. */
void file_limit_begin(struct file_limit *l);
/* rc: the result of the writes, 0 or -errno. */
void file_limit_end(const struct file_limit *l, int rc);

#endif
