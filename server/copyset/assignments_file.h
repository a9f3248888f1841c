/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * assignments_file.h - the file "copysets" of a store, for assignments.c.
 *
 *	head | a row for each copyset, in ascending order of their ids
 *
 * The head has a checksum of the rest, and the number of rows.  The file is replaced as a whole.
 * All integers are little-endian.
 */
#ifndef ASSIGNMENTS_FILE_H
#define ASSIGNMENTS_FILE_H

#include "common/dist/copyset.h"

#define ASSIGNMENTS_FILE "copysets"

/*
 * Sets *set to the rows, which the caller frees, and *n to their number.  If there is no file, *set
 * is NULL.  max: the highest number that is valid.  -EBADMSG: damaged.  -ENOMEM; -errno.
 */
int assignments_read(int dirfd, uint32_t max, struct copyset **set,
		     uint32_t *n);
/* Replaces the file, durably and atomically.  The ids ascend.  -ENOMEM; -errno. */
int assignments_write(int dirfd, const struct copyset *set, uint32_t n);

#endif
