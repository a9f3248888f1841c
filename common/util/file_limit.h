/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_limit.h - files of a library's own, which a program's limit on the size of files
 * (RLIMIT_FSIZE) was not meant for: what goes beyond it fails with EFBIG, and the
 * signal that would end the program does not come.
 */
#ifndef FILE_LIMIT_H
#define FILE_LIMIT_H

#include <signal.h>
#include <stdbool.h>

struct file_limit {
	sigset_t before;
	bool pending;
};

/* Nothing between the two may end the thread. */
void file_limit_begin(struct file_limit *l);
/* rc: what came of it, -errno. */
void file_limit_end(const struct file_limit *l, int rc);

#endif
