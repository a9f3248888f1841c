/* SPDX-License-Identifier: BSD-2-Clause */
/* local_sock.c - hellos, their descriptors, and the identity of their senders. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/local/meet/local_conn.h"

#define MAGIC 0x4c534650u /* "PFSL" */
#define VERSION 4u

/*
 * Room for more descriptors than a hello has. Otherwise the kernel would close the excess
 * descriptors in recvmsg(), and we would wait for these closes.
 */
#define FDS_MAX 253u /* SCM_MAX_FD of the kernel */

union fd_buf {
	struct cmsghdr align;
	char buf[CMSG_SPACE(FDS_MAX * sizeof(int))];
};

int local_fds_take(struct local_fds *fds, enum local_fd kind)
{
	int fd = fds->fd[kind];

	fds->fd[kind] = -1;
	return fd;
}

void local_fds_close(const struct local_giver *from, struct local_fds *fds)
{
	unsigned int i;

	for (i = 0; i < LOCAL_FDS; i++)
		if (fds->fd[i] >= 0)
			local_drop(from, fds->fd[i]);
	*fds = LOCAL_NO_FDS;
}

/* Stores the valid descriptors in fd without gaps. Returns which ones there are. */
static uint32_t pack_fds(const struct local_fds *fds, int *fd, unsigned int *n)
{
	uint32_t has = 0;
	unsigned int i;

	*n = 0;
	for (i = 0; i < LOCAL_FDS; i++) {
		if (fds->fd[i] < 0)
			continue;
		fd[(*n)++] = fds->fd[i];
		has |= LOCAL_HAS(i);
	}
	return has;
}

/* Takes ownership of the descriptors. False: their number does not match has. */
static bool unpack_fds(const struct local_giver *from, struct local_fds *fds,
		       uint32_t has, const int *fd, unsigned int n)
{
	unsigned int i, at = 0;

	*fds = LOCAL_NO_FDS;
	for (i = 0; i < LOCAL_FDS && at < n; i++)
		if (has & LOCAL_HAS(i))
			fds->fd[i] = fd[at++];
	if (at == n && (unsigned int)__builtin_popcount(has) == n)
		return true;
	while (at < n)
		local_drop(from, fd[at++]);
	local_fds_close(from, fds);
	return false;
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
		     unsigned int len, const struct local_fds *fds)
{
	struct local_hello hello = {
		.magic = MAGIC,
		.version = VERSION,
		.type = (uint16_t)type,
		.priv_len = len,
	};
	struct iovec iov = { &hello, sizeof(hello) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	unsigned int nfds = 0;
	int packed[LOCAL_FDS];
	union fd_buf buf;
	ssize_t n;

	if (len)
		memcpy(hello.priv, priv, len);
	if (fds)
		hello.has = pack_fds(fds, packed, &nfds);
	add_fds(&msg, &buf, packed, nfds);
	n = sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(hello) ? 0 : -EAGAIN;
}

/* Returns all received descriptors, up to max; drops the others. */
static unsigned int take_fds(const struct local_giver *from, struct msghdr *msg,
			     int *fds, unsigned int max)
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
			if (n < max)
				fds[n++] = fd;
			else
				local_drop(from, fd);
		}
	}
	return n;
}

int local_fds_send(int fd, const int *fds, unsigned int n)
{
	struct iovec iov = { "", 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fd_buf buf;

	add_fds(&msg, &buf, fds, n);
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Appends the descriptors of a message. -EPROTO: no room for some of them. */
static int add_passed(const struct local_giver *from, struct msghdr *msg,
		      int *fds, unsigned int max, unsigned int *n)
{
	int came[FDS_MAX];
	unsigned int i, count = take_fds(from, msg, came, FDS_MAX);
	int rc = count > 0;

	for (i = 0; i < count; i++) {
		if (*n < max) {
			fds[(*n)++] = came[i];
		} else {
			local_drop(from, came[i]);
			rc = -EPROTO;
		}
	}
	return rc;
}

int local_fds_recv(const struct local_giver *from, int fd, int *fds,
		   unsigned int max, unsigned int *n)
{
	char bells[256];
	union fd_buf buf;
	struct iovec iov = { bells, sizeof(bells) };
	struct msghdr msg;
	int rc = 0;

	do {
		msg = (struct msghdr){ .msg_iov = &iov,
				       .msg_iovlen = 1,
				       .msg_control = buf.buf,
				       .msg_controllen = sizeof(buf.buf) };
		if (recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
			return 0;
		rc = add_passed(from, &msg, fds, max, n);
	} while (!rc);
	return rc;
}

static const char *hello_flaw(const struct local_hello *hello)
{
	if (hello->magic != MAGIC)
		return "it does not speak our protocol";
	if (hello->version != VERSION)
		return "it speaks another version: use the same release";
	if (hello->priv_len > TP_PRIVATE_MAX)
		return "a hello with too much private data";
	return NULL;
}

int local_hello_recv(const struct local_giver *from, int fd,
		     struct local_hello *hello, struct local_fds *fds,
		     const char **why)
{
	struct iovec iov = { hello, sizeof(*hello) };
	union fd_buf buf;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = buf.buf,
			      .msg_controllen = sizeof(buf.buf) };
	ssize_t n = recvmsg(fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int packed[LOCAL_FDS];
	bool whole = n == (ssize_t)sizeof(*hello);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN
							 : -ECONNRESET;
	*why = whole ? hello_flaw(hello) : "half a hello";
	if (!unpack_fds(from, fds, whole ? hello->has : 0, packed,
			take_fds(from, &msg, packed, LOCAL_FDS)) &&
	    !*why)
		*why = "a hello whose descriptors did not come: raise the "
		       "open files limit";
	if (!*why)
		return 0;
	local_fds_close(from, fds);
	return n == 0 ? -ECONNRESET : -EPROTO;
}

void local_sock_unlisten(struct tp_dev *dev, int fd)
{
	struct tp_identity id = { 0 };
	struct local_giver from;
	int conn;

	shutdown(fd, SHUT_RDWR);
	while ((conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		local_sock_peer(conn, &id);
		from = local_giver(dev, id.uid);
		local_sock_close(&from, conn);
	}
	close(fd);
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
	return 0;
}

/* The kernel reports their number. The groups are those at the connect and never change. */
int local_sock_groups(int fd, uint32_t **groups, uint32_t *n)
{
	socklen_t len = 0;
	gid_t *list = NULL;
	int rc;

	_Static_assert(sizeof(gid_t) == sizeof(uint32_t), "a group");
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len)) {
		if (errno != ERANGE)
			return -errno;
		list = malloc(len);
		if (!list)
			return -ENOMEM;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, list, &len)) {
			rc = -errno;
			free(list);
			return rc;
		}
	}
	*groups = list;
	*n = len / sizeof(*list);
	return 0;
}
