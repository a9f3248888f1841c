/* SPDX-License-Identifier: BSD-2-Clause */
/* offline_int.h - the storage folder of a manager that does not run. */
#ifndef OFFLINE_INT_H
#define OFFLINE_INT_H

#include "mgr/mgr.h"

/*
 * Opens and locks the folder.  A process of root changes to the user that owns the
 * database in it.  Returns the descriptor of the folder, or -errno, logged.
 */
int offline_open(const struct mgr_conf *conf, const struct log *log);

#endif
