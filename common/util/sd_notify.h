/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sd_notify.h - reports the state of a daemon to the service manager, with the protocol of
 * sd_notify(3): datagrams to the socket that the environment names. If it names none, nothing is
 * sent and nothing fails.
 */
#ifndef SD_NOTIFY_H
#define SD_NOTIFY_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct notify {
	int fd; /* -1: no service manager */
	uint64_t watchdog_us; /* interval of watchdog signs; 0: none wanted */
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

#endif
