/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_here.h - an iod in the process of its test, over tcp. */
#ifndef IOD_HERE_H
#define IOD_HERE_H

#include "server/iod.h"

/* With its store in dir, on a free port of this host, whose manager is on this host
 * too; the defaults for all else. */
void iod_here_conf(struct iod_conf *conf, const char *dir);
/* *addr: where it listens.  log may be NULL. */
void iod_here_start(const struct iod_conf *conf, const struct log *log,
		    struct iod **iod, struct addr *addr);

#endif
