/* SPDX-License-Identifier: BSD-2-Clause */
/* local_quit.c - closing a socket with unread data: see local_drop.h. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/transport/local/shared/local_drop.h"

#define UNREAD 256u /* bytes; at most a quarter as many bells can be unread */

/* Peeks at received bytes, up to len. -EPROTO: they carry descriptors. */
static ssize_t peek(int fd, void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = recvmsg(fd, &msg, MSG_PEEK | MSG_DONTWAIT);

	return n > 0 && (msg.msg_flags & MSG_CTRUNC) ? -EPROTO : n;
}

/* After shutdown() nothing more can arrive. */
void local_sock_close(const struct local_giver *from, int fd)
{
	char buf[UNREAD];
	ssize_t n;

	shutdown(fd, SHUT_RDWR);
	n = peek(fd, buf, sizeof(buf));
	if (n == -EPROTO || n == (ssize_t)sizeof(buf))
		local_drop(from, fd);
	else
		close(fd);
}
