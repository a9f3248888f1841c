/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr.h - the manager as an object, which main.c starts.  Tests run it in their own
 * process.  A process may have several.
 */
#ifndef MGR_H
#define MGR_H

#include "common/util/log.h"
#include "mgr/state/mgr_conf.h"

struct daemon; /* daemon.h */
struct mgr;

/*
 * Opens the store, listens and serves; the threads run when it returns 0. conf is copied. log must
 * outlive the manager; on an error it has the cause. daemon (may be NULL) must outlive the manager,
 * too.  The manager reports to it when it is ready, and that its loop runs.  It calls daemon_fail()
 * if the store failed, and daemon_retire() if the iods obey another manager.  From then on it
 * answers no requests.  It calls daemon_restart() if it was the leader of a group and has lost the
 * leadership: the caller must stop it and start it again.
 */
int mgr_start(const struct mgr_conf *conf, const struct log *log,
	      struct daemon *daemon, struct mgr **mgr);
/*
 * Checks every page of the database, instead of mgr_start(). Returns 0, or an error; the log then
 * names the damage. No manager may run on the database.
 */
int mgr_check(const struct mgr_conf *conf, const struct log *log);
/*
 * Makes a database that is older than the iods' state usable, in place of a lost one. It is called
 * instead of mgr_start(), and takes effect at the next start. All iods must run, and no manager.
 * Returns 0 or -errno, which is logged; -EOPNOTSUPP if there are several managers.
 */
int mgr_restore(const struct mgr_conf *conf, const struct log *log);
/*
 * Call it instead of mgr_start(), after the other managers of the group were lost: makes the
 * manager of this storage the first one of a new group.  Changes that only the lost managers
 * have are lost.  Without force, logs what is known about these changes and returns -EPERM.
 * Fails while another manager of the group answers.  All iods must run.  Returns 0 or -errno,
 * logged.  If it was interrupted, call it again.
 */
int mgr_recover(const struct mgr_conf *conf, bool force, const struct log *log);
/* Reads the keys again. Any thread may call it. */
void mgr_reload(struct mgr *mgr);
/* Stops the manager.  Clients will send unanswered requests to the next run of the manager. */
void mgr_stop(struct mgr *mgr);

#endif
