/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sd_notify.h - reports the state of a daemon to the service manager, with the protocol of
 * sd_notify(3): datagrams to the socket that the environment names. If it names none, nothing is
 * sent and nothing fails.
 */
#ifndef SD_NOTIFY_H
#define SD_NOTIFY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
	int fd; /* socket, or -1 if there is no service manager */
	/* interval of watchdog signs; 0 if none are wanted */
	uint64_t watchdog_us;
	struct sockaddr_un to;
	socklen_t len;
};

/*
 * Removes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID from the environment, so that no child
 * reports for its parent. Call it before other threads run. 0; -EINVAL: NOTIFY_SOCKET is neither a
 * path nor "@" and a name, or is too long; or the error of socket(2). n is usable in any case;
 * notify_close() releases it.
 */
int notify_open(struct notify *n);
void notify_close(struct notify *n);
/*
 * Sends lines like "READY=1". Any thread. 0, also without a service manager; or the error of
 * sendto(2). notify_say() waits up to a second for room: -EAGAIN. notify_try() does not wait.
 */
int notify_say(const struct notify *n, const char *lines);
int notify_try(const struct notify *n, const char *lines);

/*
 * Watchdog signs come from the loops that serve: each loop beats in every turn, and the loop that
 * completes a round sends the sign. So the signs stop when one loop hangs, even if all others run.
 *
 *  loop 0   x   x       x         x - hangs
 *  loop 1     x     x x       x     x       x       x
 *  sign       ^     ^         ^     ^  no more signs
 *
 * Until pulse_ready() the signs report that the start continues, and extend its time.
 */
#define PULSE_LOOPS_MAX 64u

struct pulse {
	/* private */
	const struct notify *notify;
	/* interval of signs in ns; 0 if the service manager wants none */
	uint64_t every;
	uint64_t all; /* one bit per loop */
	_Atomic uint64_t beaten; /* loops that beat since the last sign */
	_Atomic uint64_t due; /* time of the next sign, clock_now() */
	atomic_bool ready;
};

/* n must outlive the pulse. There is one loop, unless pulse_loops() sets another number. */
void pulse_init(struct pulse *p, const struct notify *n);
/* Sets the number of loops, 1 to PULSE_LOOPS_MAX, before any of them beats. */
void pulse_loops(struct pulse *p, unsigned int loops);
/*
 * A loop calls this in each turn, on its thread. Never waits. Returns the time (clock_now()) by
 * which the next call is due, or CLOCK_NEVER if no calls are needed. p may be NULL.
 */
uint64_t pulse_beat(struct pulse *p, unsigned int loop);
/*
 * Reports that the daemon serves from now on. Any thread may call it. Returns 0, or the error of
 * notify_say().
 */
int pulse_ready(struct pulse *p);
bool pulse_is_ready(const struct pulse *p);

#endif
