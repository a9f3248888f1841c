/* SPDX-License-Identifier: BSD-2-Clause */
/* recovery.h - whether a recovery of the storage (mgr_recover() in mgr.h) was interrupted. */
#ifndef RECOVERY_H
#define RECOVERY_H

#include "common/util/log.h"

/*
 * No manager may use the database meanwhile. Returns 0, or -EINPROGRESS if a recovery was
 * interrupted, which is logged.
 */
int recovery_check_over(int dirfd, const char *storage, const struct log *log);

#endif
