/* SPDX-License-Identifier: BSD-2-Clause */
/* spot.h - the folder where a file system is to be shown. */
#ifndef SPOT_H
#define SPOT_H

#include "log.h"

/* It is a folder, without a PVFS, or that is logged, before any server is asked. */
int spot_check(const char *dir, const struct log *log);
/* Nothing could be shown there, and what libfuse says is not always why. */
void spot_refused(const char *dir, const struct log *log);

#endif
