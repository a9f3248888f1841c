/* SPDX-License-Identifier: BSD-2-Clause */
/* daemon.c - see daemon.h. */
#include "common/util/daemon.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "common/util/clock.h"

/* A write beyond the file size limit must return an error, not kill the process. */
static void set_signals(sigset_t *set)
{
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGUSR1, SIG_IGN); /* earlier releases logged counters then */
	signal(SIGHUP, SIG_DFL); /* nohup ignores it */
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigaddset(
		set,
		SIGUSR2); /* daemon_restart(); SIGTERM could hide one of a user */
	sigprocmask(SIG_BLOCK, set, NULL);
}

void daemon_begin(struct daemon *d, const struct log *log)
{
	int rc = notify_open(&d->notify);

	if (rc)
		log_warn(log,
			 "NOTIFY_SOCKET: %s: the service manager gets no "
			 "notifications",
			 strerror(-rc));
	d->log = log;
	d->reloads = false;
	atomic_init(&d->status, EXIT_SUCCESS);
	atomic_init(&d->restart, false);
	pulse_init(&d->pulse, &d->notify);
	set_signals(&d->signals);
}

/* Not before READY: the end of a reload reports READY. */
static void begin_reload(struct daemon *d)
{
	char text[64];

	if (!pulse_is_ready(&d->pulse))
		return;
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		 clock_now() / 1000);
	notify_say(&d->notify, text);
	d->reloads = true;
}

static void say_ready(struct daemon *d)
{
	int rc = pulse_ready(&d->pulse);

	if (rc)
		log_error(d->log,
			  "the service manager did not accept READY: "
			  "%s; it may end this process after TimeoutStartSec",
			  strerror(-rc));
}

void daemon_ready(struct daemon *d)
{
	if (d)
		say_ready(d);
}

static void end_reload(struct daemon *d)
{
	if (d->reloads)
		say_ready(d);
	d->reloads = false;
}

static void begin_stop(struct daemon *d, int sig)
{
	notify_say(&d->notify, "STOPPING=1\nSTATUS=Stops");
	if (daemon_status(d))
		log_info(d->log, "stopping: see the error above");
	else
		log_info(d->log, "%s: stopping", strsignal(sig));
}

enum daemon_order daemon_next(struct daemon *d)
{
	int sig = SIGTERM;

	end_reload(d);
	do {
		sigwait(&d->signals, &sig);
		if (sig == SIGUSR2 && atomic_exchange(&d->restart, false))
			return DAEMON_RESTART;
	} while (sig == SIGUSR2);
	if (sig == SIGHUP) {
		begin_reload(d);
		return DAEMON_RELOAD;
	}
	begin_stop(d, sig);
	return DAEMON_STOP;
}

static void end_with(struct daemon *d, int status)
{
	if (!d)
		return;
	atomic_store(&d->status, status);
	kill(getpid(), SIGTERM);
}

void daemon_fail(struct daemon *d)
{
	end_with(d, EXIT_FAILURE);
}

void daemon_retire(struct daemon *d)
{
	end_with(d, EX_CONFIG);
}

void daemon_restart(struct daemon *d)
{
	if (!d)
		return;
	atomic_store(&d->restart, true);
	kill(getpid(), SIGUSR2);
}

int daemon_status(const struct daemon *d)
{
	return atomic_load(&d->status);
}

void daemon_end(struct daemon *d)
{
	notify_close(&d->notify);
}
