/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod.h - an I/O daemon as an object: what main.c starts and tests run
 * inside themselves.  Several may live in one process.
 */
#ifndef IOD_H
#define IOD_H

#include "common/util/addr.h"
#include "server/conf/iod_conf.h"
#include "common/util/log.h"

struct daemon; /* daemon.h */
struct iod;

/*
 * Opens the store, listens and serves; the threads run when it returns 0.
 * conf is copied; log outlives the iod and has told the cause of an error.
 * daemon, which outlives it too, hears when it is ready, that its threads turn, and
 * daemon_fail(): its store is not the one that the manager knows.  It may be NULL.
 */
int iod_start(const struct iod_conf *conf, const struct log *log,
	      struct daemon *daemon, struct iod **iod);
/* Ends the threads; what was not answered will be replayed to the next. */
void iod_stop(struct iod *iod);
/* Says to the log what the buffers are used for, soon.  Any thread. */
void iod_report(struct iod *iod);
/* Reads the keys again.  Any thread. */
void iod_reload(struct iod *iod);
/* The address in use, with the port that was chosen. */
void iod_addr(const struct iod *iod, struct addr *addr);

#endif
