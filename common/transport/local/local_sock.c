/* SPDX-License-Identifier: BSD-2-Clause */
/* local_sock.c - hellos, the descriptors they carry, and who says them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "local.h"

#define MAGIC 0x4c534650u /* "PFSL" */
#define VERSION 2u

union fd_buf {
	struct cmsghdr align;
	char buf[CMSG_SPACE(LOCAL_FDS * sizeof(int))];
};

void local_fds_close(const int *fds, unsigned int n)
{
	while (n-- > 0)
		close(fds[n]);
}

static void add_fds(struct msghdr *msg, union fd_buf *buf, const int *fds,
		    unsigned int n)
{
	struct cmsghdr *c;

	if (!n)
		return;
	memset(buf, 0, sizeof(*buf));
	msg->msg_control = buf->buf;
	msg->msg_controllen = CMSG_SPACE(n * sizeof(int));
	c = CMSG_FIRSTHDR(msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
}

int local_hello_send(int fd, enum local_hello_type type, const void *priv,
		     unsigned int len, const int *fds, unsigned int nfds)
{
	struct local_hello hello = {
		.magic = MAGIC,
		.version = VERSION,
		.type = (uint16_t)type,
		.priv_len = len,
		.nfds = nfds,
	};
	struct iovec iov = { &hello, sizeof(hello) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fd_buf buf;
	ssize_t n;

	if (len)
		memcpy(hello.priv, priv, len);
	add_fds(&msg, &buf, fds, nfds);
	n = sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(hello) ? 0 : -EAGAIN;
}

/* All that came, up to LOCAL_FDS; the kernel drops the rest. */
static unsigned int take_fds(struct msghdr *msg, int *fds)
{
	struct cmsghdr *c;
	unsigned int n = 0, i, count;
	int fd;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (unsigned int)((c->cmsg_len - CMSG_LEN(0)) /
				       sizeof(int));
		for (i = 0; i < count; i++) {
			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int),
			       sizeof(int));
			if (n < LOCAL_FDS)
				fds[n++] = fd;
			else
				close(fd);
		}
	}
	return n;
}

static const char *unsound(const struct local_hello *hello, unsigned int nfds)
{
	if (hello->magic != MAGIC)
		return "it does not speak our protocol";
	if (hello->version != VERSION)
		return "it speaks another version: use the same release";
	if (hello->priv_len > TP_PRIVATE_MAX)
		return "a hello with too much private data";
	if (hello->nfds != nfds)
		return "a hello whose descriptors did not come: raise the "
		       "open files limit";
	return NULL;
}

int local_hello_recv(int fd, struct local_hello *hello, int *fds,
		     const char **why)
{
	struct iovec iov = { hello, sizeof(*hello) };
	union fd_buf buf;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = buf.buf,
			      .msg_controllen = sizeof(buf.buf) };
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	unsigned int nfds;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN
							 : -ECONNRESET;
	nfds = take_fds(&msg, fds);
	if (n == (ssize_t)sizeof(*hello)) {
		*why = unsound(hello, nfds);
		if (!*why)
			return 0;
	} else {
		*why = "half a hello";
	}
	local_fds_close(fds, nfds);
	return n == 0 ? -ECONNRESET : -EPROTO;
}

static void groups_set(struct tp_identity *id, const gid_t *groups, size_t n)
{
	size_t i;

	for (i = 0; i < n && i < TP_GROUPS_MAX; i++)
		id->groups[i] = groups[i];
	id->ngroups = (uint32_t)i;
}

static int peer_groups(int fd, struct tp_identity *id)
{
	gid_t few[TP_GROUPS_MAX], *many;
	socklen_t len = sizeof(few);
	int rc = 0;

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, few, &len)) {
		groups_set(id, few, len / sizeof(few[0]));
		return 0;
	}
	if (errno != ERANGE)
		return -errno;
	many = malloc(len);
	if (!many)
		return -ENOMEM;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, many, &len))
		rc = -errno;
	else
		groups_set(id, many, len / sizeof(many[0]));
	free(many);
	return rc;
}

int local_sock_peer(int fd, struct tp_identity *id)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return -errno;
	*id = (struct tp_identity){ .uid = cred.uid,
				    .gid = cred.gid,
				    .pid = cred.pid };
	return peer_groups(fd, id);
}
