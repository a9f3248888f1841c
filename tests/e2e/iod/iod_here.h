/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_here.h - an iod in the process of its test, over tcp. */
#ifndef IOD_HERE_H
#define IOD_HERE_H

#include "server/iod.h"

/*
 * Fills in conf for a store in dir, on a free port of this host, with a manager on this host. All
 * else has its default.
 */
void iod_here_conf(struct iod_conf *conf, const char *dir);
/* Starts the iod.  *addr is its address.  log may be NULL. */
void iod_here_start(const struct iod_conf *conf, const struct log *log,
		    struct iod **iod, struct addr *addr);

#endif
