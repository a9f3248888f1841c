/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * daemon.h - the main thread of a daemon: signals, and what the service manager hears.
 *
 *	daemon_begin(&d, &log);
 *	start the threads that serve, with &d.pulse
 *	while ((order = daemon_next(&d)) != DAEMON_STOP)
 *		do it
 *	stop the threads
 *	daemon_end(&d);
 */
#ifndef DAEMON_H
#define DAEMON_H

#include <signal.h>

#include "common/util/log.h"
#include "common/util/pulse.h"

enum daemon_order {
	DAEMON_STOP, /* SIGTERM, SIGINT, daemon_fail() */
	DAEMON_RELOAD, /* SIGHUP; it ends with the next daemon_next() */
	DAEMON_REPORT, /* SIGUSR1 */
};

struct daemon {
	struct pulse pulse; /* pulse_loops() before the threads start */
	/* private */
	const struct log *log;
	struct notify notify;
	sigset_t signals;
	atomic_bool failed;
	bool reloads;
};

/* Before any thread is started: the signals are blocked in all.  log outlives it. */
void daemon_begin(struct daemon *d, const struct log *log);
/* Waits for the next order. */
enum daemon_order daemon_next(struct daemon *d);
/* Why is in the log: it is to stop.  Any thread.  d may be NULL: nothing happens. */
void daemon_fail(struct daemon *d);
/* The threads that serve beat it.  NULL of NULL. */
static inline struct pulse *daemon_pulse(struct daemon *d)
{
	return d ? &d->pulse : NULL;
}
/* It serves from now on.  Any thread; d may be NULL. */
void daemon_ready(struct daemon *d);
bool daemon_failed(const struct daemon *d);
void daemon_end(struct daemon *d);

#endif
