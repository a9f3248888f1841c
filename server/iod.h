/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod.h - an I/O daemon as an object: main.c starts one, and tests run it in their own process.
 * A process may have several.
 */
#ifndef IOD_H
#define IOD_H

#include "common/util/addr.h"
#include "server/conf/iod_conf.h"
#include "common/util/log.h"

struct daemon; /* daemon.h */
struct iod;

/*
 * Opens the store and listens.  When it returns 0, the threads run, and the iod serves after
 * its first lease.  conf is copied, except iods, which the caller keeps.  log outlives the iod.
 * daemon outlives the iod and may be NULL: it is told when the iod serves and that its threads
 * make progress, and daemon_fail() is called if the store is not the one that the manager
 * expects.  -errno.  Errors are logged with their cause, except a lack of memory, threads or
 * descriptors in disk_pool_open(), recent_changes_open() and store_open().
 */
int iod_start(const struct iod_conf *conf, const struct log *log,
	      struct daemon *daemon, struct iod **iod);
/* Ends the threads and frees the iod.  Clients send unanswered requests again to the next
 * process. */
void iod_stop(struct iod *iod);
/* Reads the keys again, for SIGHUP.  Any thread. */
void iod_reload(struct iod *iod);
/* The address that the iod listens on, with the actual port. */
void iod_addr(const struct iod *iod, struct addr *addr);

#endif
