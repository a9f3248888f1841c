/* SPDX-License-Identifier: BSD-2-Clause */
/* offline_int.h - the folder of a manager that does not run. */
#ifndef OFFLINE_INT_H
#define OFFLINE_INT_H

#include "mgr/mgr.h"

/*
 * Opens and locks the folder; a process of root becomes the owner of the data base in it.
 * The folder's descriptor, or -errno, logged.
 */
int offline_open(const struct mgr_conf *conf, const struct log *log);

#endif
