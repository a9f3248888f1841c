/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemon.h - the main thread of a daemon: signals, and notifications to the service manager.
 *
 *	daemon_begin(&d, &log);
 *	start the threads that serve, with &d.pulse
 *	while ((order = daemon_next(&d)) != DAEMON_STOP)
 *		execute the order
 *	stop the threads
 *	daemon_end(&d);
 */
#ifndef DAEMON_H
#define DAEMON_H

#include <signal.h>

#include "common/util/log.h"
#include "common/util/sd_notify.h"

enum daemon_order {
	DAEMON_STOP, /* SIGTERM, SIGINT, daemon_fail() */
	DAEMON_RELOAD, /* SIGHUP; the reload ends at the next daemon_next() */
	DAEMON_RESTART, /* daemon_restart() */
};

struct daemon {
	/* the caller calls pulse_loops() on it before the threads start */
	struct pulse pulse;
	/* private */
	const struct log *log;
	struct notify notify;
	sigset_t signals;
	atomic_int status;
	atomic_bool restart;
	bool reloads;
};

/* Call it before any thread starts: it blocks the signals in all threads. log must outlive d. */
void daemon_begin(struct daemon *d, const struct log *log);
/* Waits for the next order and returns it. */
enum daemon_order daemon_next(struct daemon *d);
/*
 * Orders the daemon to stop; the caller has logged the reason. Any thread. If d is NULL, does
 * nothing.
 */
void daemon_fail(struct daemon *d);
/*
 * As daemon_fail(), with EX_CONFIG: an administrator must act before the daemon is started again.
 */
void daemon_retire(struct daemon *d);
/*
 * Orders the daemon to stop its serving threads and start them again in this process.  Any thread.
 * If d is NULL, does nothing.
 */
void daemon_restart(struct daemon *d);
/* Returns the pulse that the serving threads beat, or NULL if d is NULL. */
static inline struct pulse *daemon_pulse(struct daemon *d)
{
	return d ? &d->pulse : NULL;
}
/* Reports that the daemon serves from now on. Any thread may call it. d may be NULL. */
void daemon_ready(struct daemon *d);
/*
 * Returns the exit status of the daemon: EXIT_FAILURE after daemon_fail(), EX_CONFIG after
 * daemon_retire(), otherwise 0.
 */
int daemon_status(const struct daemon *d);
void daemon_end(struct daemon *d);

#endif
