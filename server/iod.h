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
 * Opens the store and listens.  After 0 the threads run, *iod is the caller's until iod_stop(),
 * and the iod serves from its first lease on.  conf is copied, except the array conf->iods,
 * which must exist as long as the iod.  log and daemon must, too.  daemon may be NULL: the iod
 * tells it when it serves and that its threads make progress, and calls daemon_fail() if the
 * store is not the one that the manager expects.
 *
 * -errno: nothing runs.  The cause is logged, except a lack of memory, threads or descriptors in
 * disk_pool_open(), recent_changes_open() and store_open().
 */
int iod_start(const struct iod_conf *conf, const struct log *log,
	      struct daemon *daemon, struct iod **iod);
/*
 * Ends the threads and frees the iod.  Requests that it has not answered get no answer: their
 * clients repeat them at the next process of the iod.
 */
void iod_stop(struct iod *iod);
/* Reads the file of keys again, for SIGHUP.  May be called from any thread. */
void iod_reload(struct iod *iod);
/* The address that the iod listens on, with the actual port. */
void iod_addr(const struct iod *iod, struct addr *addr);

#endif
