/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process_limits.h - limits of a process: how many files it may open, and their descriptor
 * numbers; the size of files.
 */
#ifndef PROCESS_LIMITS_H
#define PROCESS_LIMITS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Raises the limit of open files to the hard limit. Returns the new limit, or ULLONG_MAX if there
 * is none or it is unknown.
 */
unsigned long long descriptors_raise(void);
/*
 * Whether few descriptors are free: after the `promised` ones are subtracted, fewer than `spare`,
 * or fewer than an eighth of the limit if that is less. fd is any open descriptor.
 */
bool descriptors_short(int fd, unsigned int spare, unsigned int promised);
/*
 * Half of the descriptors that descriptors_short() keeps free are a reserve for a few important
 * users. descriptors_reserve() returns its size. descriptors_reserve_gone() returns whether the
 * reserve is used up.
 */
unsigned int descriptors_reserve(unsigned int spare);
bool descriptors_reserve_gone(int fd, unsigned int spare);

/*
 * Moves an open file to the first free descriptor number from `from` on, because programs expect to
 * get the low numbers. Sets close-on-exec and closes fd. Returns fd itself if no number is free.
 */
int descriptor_apart(int fd, int from);

/*
 * Suppresses the signal of RLIMIT_FSIZE for a library's own files, for which the program's limit on
 * file sizes is not meant. A write beyond the limit fails with EFBIG, and does not kill the
 * program.
 */
struct file_limit {
	sigset_t before;
	bool pending;
};

/* The code between these two calls must not end the thread. */
void file_limit_begin(struct file_limit *l);
/* rc is the result of the writes: 0 or -errno. */
void file_limit_end(const struct file_limit *l, int rc);

#endif
