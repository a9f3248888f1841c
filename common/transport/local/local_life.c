/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_life.c - an acceptor watches the process that connected. The socket alone is not enough: a
 * forked child also has it, and may outlive the process by years without sending anything.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/transport/local/local.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

static void ended(struct local_ep *ep)
{
	ep->eof = true;
	local_ep_heat(ep);
}

static void process_ended(struct sock_src *src, uint32_t events)
{
	ended(container_of(src, struct local_ep, life_src));
}

/*
 * Uses the process id if the kernel has no SO_PEERPIDFD. The id may belong to another process by
 * now; but a process that ended that early never sends HELLO and is not served.
 */
static int process_open(const struct local_ep *ep)
{
	socklen_t len = sizeof(int);
	int fd;

	if (!getsockopt(ep->fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &len))
		return fd;
	if (errno != ENOPROTOOPT)
		return errno == EINVAL ? -ESRCH : -errno;
	if (!ep->id.pid)
		return -ENODATA;
	fd = (int)syscall(SYS_pidfd_open, ep->id.pid, 0);
	return fd < 0 ? -errno : fd;
}

void local_life_watch(struct local_ep *ep)
{
	int rc = process_open(ep);

	if (rc == -ESRCH) {
		ended(ep);
		return;
	}
	ep->life = rc;
	ep->life_src.ready = process_ended;
	if (rc >= 0)
		rc = sock_cq_add(&ep->cq->sock, ep->life, &ep->life_src,
				 EPOLLIN);
	if (rc < 0)
		log_info(ep->ep.dev->log,
			 "%s: its end is not noticed while a child of it has "
			 "the socket: %s",
			 ep->peer, strerror(-rc));
}

void local_life_leave(struct local_ep *ep)
{
	if (ep->life < 0)
		return;
	sock_cq_del(&ep->cq->sock, ep->life, &ep->life_src);
	close(ep->life);
	ep->life = -1;
}
