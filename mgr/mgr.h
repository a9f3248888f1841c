/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr.h - the manager as an object: what main.c starts and tests run inside
 * themselves.  Several may live in one process.
 */
#ifndef MGR_H
#define MGR_H

#include "common/util/log.h"
#include "mgr/state/mgr_conf.h"

struct daemon; /* daemon.h */
struct mgr;

/*
 * Opens the store, listens and serves; the threads run when it returns 0.
 * conf is copied; log outlives the mgr and has told the cause of an error.
 * daemon, which outlives it too, hears when it is ready, that its loop turns, and
 * daemon_fail(): the store cannot go on, nothing is answered any more.  It may be
 * NULL.
 */
int mgr_start(const struct mgr_conf *conf, const struct log *log,
	      struct daemon *daemon, struct mgr **mgr);
/*
 * Instead of all that: is every page of the data base as it should be?  0, or what is
 * wrong is in the log.  Not while a manager runs on it.
 */
int mgr_check(const struct mgr_conf *conf, const struct log *log);
/*
 * Instead of all that: the data base, which is older than what the iods have seen, goes on
 * in the place of the lost one from the next start.  All iods run, and no manager does.
 * 0 or -errno, logged.
 */
int mgr_restore(const struct mgr_conf *conf, const struct log *log);
/* Says to the log what it has done.  Any thread. */
void mgr_report(struct mgr *mgr);
/* Reads the keys again.  Any thread. */
void mgr_reload(struct mgr *mgr);
/* What was not answered will be replayed to the next. */
void mgr_stop(struct mgr *mgr);

#endif
