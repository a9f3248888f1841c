/* SPDX-License-Identifier: BSD-2-Clause */
/* spot.h - the folder where a file system is to be shown. */
#ifndef SPOT_H
#define SPOT_H

#include <stdbool.h>

#include "common/util/log.h"

#define NOSYMFOLLOW 256ul /* MS_NOSYMFOLLOW, from Linux 5.10 on */

/* The number of the file system that is shown there; asks nobody.  0: it is not known. */
unsigned int spot_minor(const char *dir);

/* It is a folder, without a PVFS, and empty unless nonempty; or that is logged, before any server is asked. */
int spot_check(const char *dir, bool nonempty, const struct log *log);
/* Of the flags of mount(2) the PVFS that is shown there gets those of given from flags, and keeps
 * the others; -errno, which is logged. */
int spot_remount(const char *dir, unsigned long given, unsigned long flags,
		 const struct log *log);
/* Nothing could be shown there, and what libfuse says is not always why. */
void spot_refused(const char *dir, const struct log *log);

/*
 * All that the kernel asks of that file system, the minor number of its st_dev, fails from now
 * on; it stays where it is.  For one whose process was killed while a thread of it waited in
 * the kernel for an answer of its own.
 */
void spot_abort(unsigned int minor);

#endif
