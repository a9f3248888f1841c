/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sd_notify.h - tells the service manager how a daemon does, by the protocol of
 * sd_notify(3): datagrams to the socket that the environment names.  Where it names
 * none, nobody is told and nothing fails.
 */
#ifndef SD_NOTIFY_H
#define SD_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
	int fd; /* -1: nobody listens */
	uint64_t watchdog_us; /* a sign of life is due within it; 0: none is */
	struct sockaddr_un to;
	socklen_t len;
};

/*
 * Takes NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID out of the environment: no child
 * speaks for its parent.  Before other threads run.  0; -EINVAL: NOTIFY_SOCKET is
 * neither a path nor "@" and a name, or is too long; or of socket(2).  n is
 * good for the rest in any case, notify_close() releases it.
 */
int notify_open(struct notify *n);
void notify_close(struct notify *n);
/*
 * Lines like "READY=1".  Any thread.  0, also if nobody listens; or of sendto(2).
 * notify_say() waits for room, but no longer than a second: -EAGAIN; notify_try() not
 * at all.
 */
int notify_say(const struct notify *n, const char *lines);
int notify_try(const struct notify *n, const char *lines);

#endif
