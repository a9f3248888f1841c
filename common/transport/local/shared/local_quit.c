/* SPDX-License-Identifier: BSD-2-Clause */
/* local_quit.c - a socket with what nobody read: see local_drop.h. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/transport/local/shared/local_drop.h"

#define UNREAD 256u /* bytes; there are a quarter as many bells at most */

/* Bytes that came, up to len; -EPROTO: with descriptors. */
static ssize_t peek(int fd, void *buf, size_t len)
{
	struct iovec iov = { buf, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = recvmsg(fd, &msg, MSG_PEEK | MSG_DONTWAIT);

	return n > 0 && (msg.msg_flags & MSG_CTRUNC) ? -EPROTO : n;
}

/* After shutdown() nothing more comes. */
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
